import type { ApiClient } from "../../controller/cluster/kubernetes/api/api-client.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";

/** Selectors of objects in a collection; all objects if neither is given. */
export type Selectors = { readonly fieldSelector?: string | undefined; readonly labelSelector?: string | undefined };

/** Number of objects in one page. */
const PAGE = 500;

/**
 * Reads a whole collection of a Kubernetes API, page by page.
 *
 * @throws ApiError if it cannot be read
 */
export async function listAll(
  api: Pick<ApiClient, "request">,
  path: string,
  selectors: Selectors = {},
): Promise<unknown[]> {
  const items: unknown[] = [];
  for (let next: string | undefined = ""; next !== undefined; ) {
    const query = { limit: String(PAGE), ...selectors, continue: next || undefined };
    const page = await api.request({ method: "GET", path, query });
    if (!isRecord(page) || !Array.isArray(page.items)) throw new Error(`${path} is no list: is this a Kubernetes API?`);
    items.push(...page.items);
    const more = isRecord(page.metadata) ? page.metadata.continue : undefined;
    next = typeof more === "string" && more !== "" ? more : undefined;
  }
  return items;
}

/** Returns the namespace of an object; empty if it has none. */
export function metadataNamespace(object: unknown): string {
  return textIn(object, "namespace");
}

export function metadataName(object: unknown): string {
  return textIn(object, "name");
}

function textIn(object: unknown, field: "name" | "namespace"): string {
  const { metadata } = isRecord(object) ? object : {};
  const text = isRecord(metadata) ? metadata[field] : undefined;
  return typeof text === "string" ? text : "";
}
