import type { ApiClient } from "../../controller/cluster/kubernetes/api/api-client.ts";
import { isRecord } from "../../domain/manifest/identity.ts";

/** Objects that are read at a time. */
const PAGE = 500;

/**
 * Reads a whole collection of a Kubernetes API, page by page.
 *
 * @throws ApiError where it cannot be read
 */
export async function listAll(
  api: Pick<ApiClient, "request">,
  path: string,
  fieldSelector?: string,
): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let next: string | undefined = ""; next !== undefined; ) {
    const query = { limit: String(PAGE), fieldSelector, continue: next || undefined };
    const page = await api.request({ method: "GET", path, query });
    if (!isRecord(page) || !Array.isArray(page.items)) throw new Error(`${path} is no list: is this a Kubernetes API?`);
    items.push(...page.items);
    const more = isRecord(page.metadata) ? page.metadata.continue : undefined;
    next = typeof more === "string" && more !== "" ? more : undefined;
  }
  return items;
}

/** The namespace of an object; empty where it has none. */
export function namespaceOf(object: unknown): string {
  const { metadata } = isRecord(object) ? object : {};
  return isRecord(metadata) && typeof metadata.namespace === "string" ? metadata.namespace : "";
}
