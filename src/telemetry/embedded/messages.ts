/** What the engine's process is told over its IPC channel. The password travels here, where no `ps` sees it. */
export type ToEngine = OpenEngine | { readonly type: "close" } | { readonly type: "probe" };

export interface OpenEngine {
  readonly type: "open";
  readonly directory: string;
  /** 0: any that is free. */
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly memoryLimitBytes: number;
  /** Sessions for reads, and so reads at a time. */
  readonly sessions: number;
}

/** What the engine's process says. */
export type FromEngine =
  | { readonly type: "ready"; readonly port: number }
  | { readonly type: "refused"; readonly message: string; readonly portTaken: boolean }
  | { readonly type: "probed" };
