import { isRecord } from "../../../domain/manifest/document/identity.ts";
import type { ApiClient } from "./api/api-client.ts";
import { isForbidden, isNotFound, readError } from "./api/api-error.ts";
import { namespacePath, namespaceResource } from "./resources.ts";

export type Namespace = {
  /**
   * Time since which it is being deleted, by the API server's clock, in milliseconds since the epoch; undefined if it
   * is not.
   */
  readonly endingSince: number | undefined;
};

/**
 * Asks the API server for a namespace.
 *
 * @returns undefined if the API server says of this very namespace that it does not exist
 * @throws ApiError, or Error for an answer that is no namespace: nothing is known of it
 */
export async function readNamespace(
  api: ApiClient,
  name: string,
  signal?: AbortSignal,
): Promise<Namespace | undefined> {
  try {
    const path = namespacePath(name);
    const found = await api.request({ method: "GET", path, ...(signal === undefined ? {} : { signal }) });
    const { metadata } = isRecord(found) ? found : {};
    if (!isRecord(metadata) || metadata.name !== name) throw new Error(`the answer is not the namespace ${name}`);
    const { deletionTimestamp: at } = metadata;
    return { endingSince: typeof at === "string" ? Date.parse(at) : undefined };
  } catch (error) {
    if (isNotFound(error, namespaceResource(name))) return undefined;
    throw error;
  }
}

/**
 * True if nothing can be created in a namespace any more. False if we may not read the namespace: nothing is known of
 * it.
 *
 * @throws ClusterError, or Error as readNamespace does
 */
export async function namespaceTerminates(api: ApiClient, name: string): Promise<boolean> {
  try {
    const found = await readNamespace(api, name);
    return found === undefined || found.endingSince !== undefined;
  } catch (error) {
    if (isForbidden(error)) return false;
    throw readError(error, `asking for the namespace ${name}`);
  }
}
