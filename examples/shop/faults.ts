/** What can go wrong in the shop, switched on by `--fault NAME` or while it runs. */
export const faults = {
  "bad-deployment": "payment 2.1.0 fails on every third card",
  "slow-catalog": "the catalog takes a second to answer",
  "full-pool": "checkout's database connections run out",
} as const;

export type Fault = keyof typeof faults;

export function isFault(name: string): name is Fault {
  return Object.hasOwn(faults, name);
}
