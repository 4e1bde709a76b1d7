import type { ParamValue, TelemetryReader } from "../../telemetry/contract.ts";
import { readServices } from "./read.ts";
import type { Service } from "./read.ts";

/** What names a service exactly. */
export interface ServiceKey {
  readonly workspace: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * The service of that name; without `namespaceName` the first one in the order of the list, where several namespaces
 * have one. Undefined where none ever sent telemetry. `now` is in Unix milliseconds.
 */
export async function findService(
  reader: TelemetryReader,
  workspace: string,
  name: string,
  namespaceName: string | undefined,
  now: number,
  signal?: AbortSignal,
): Promise<{ service: Service; key: ServiceKey } | undefined> {
  const page = { limit: 0, direction: "next", keys: undefined, continued: false, binding: "" } as const;
  const [service] = await readServices(reader, workspace, { namespaceName, name }, page, now, signal);
  return service && { service, key: { workspace, namespace: service.namespace_name ?? "", name } };
}

/** Selects a service's rows in any table of telemetry. */
export const ofService =
  "workspace = {workspace:String} AND service_name = {service_name:String} AND service_namespace = {service_namespace:String}";

/** What `ofService` binds. */
export function serviceParams({ workspace, namespace, name }: ServiceKey): Record<string, ParamValue> {
  return { workspace, service_name: name, service_namespace: namespace };
}
