/**
 * Versions under which etcd holds the objects of a kind. An object that was stored under another version stays so until
 * it is written again. As long as there may be such an object, its version cannot leave the definition.
 */
import type { Kind } from "../../../../domain/kinds/kinds.ts";
import { definitionPath, objectPath, objectResource, objectsPath } from "../resources.ts";
import type { ApiClient } from "./api-client.ts";
import { isNotFound } from "./api-error.ts";

export type StoredVersions = {
  /** Version that objects are stored under from now on. */
  readonly storage: string;
  /** Versions that some objects may be stored under, `storage` included. */
  readonly stored: readonly string[];
  /** Version of the definition that was read. */
  readonly resourceVersion: string;
};

/**
 * Reads from its definition under which versions a kind is stored.
 *
 * @throws ApiError, with status 404 if the kind is not defined
 */
export async function readStoredVersions(api: ApiClient, kind: Kind): Promise<StoredVersions> {
  const definition = (await api.request({ method: "GET", path: definitionPath(kind) })) as Definition;
  const storage = definition.spec.versions.find((version) => version.storage);
  if (storage === undefined) throw new Error(`the definition of ${kind} stores no version: apply crds/ again`);
  const { storedVersions } = definition.status ?? { storedVersions: [] };
  return { storage: storage.name, stored: storedVersions, resourceVersion: definition.metadata.resourceVersion };
}

/** CustomResourceDefinition, as far as it is read here. */
type Definition = {
  readonly metadata: { readonly resourceVersion: string };
  readonly spec: { readonly versions: readonly { readonly name: string; readonly storage: boolean }[] };
  readonly status?: { readonly storedVersions: readonly string[] };
};

/** Number of objects in one answer. */
const PAGE = 500;
/** Number of writes at once. */
const WRITES = 8;

/**
 * Makes the API server store every object of a kind under the version that the definition stores, and the definition
 * forget the others. A patch that changes nothing is enough: the API server writes the object if it would store it
 * differently. Whatever interrupts it, it can be run again.
 *
 * @param from result of {@link readStoredVersions}
 * @returns the number of objects
 * @throws ApiError, with status 409 if the definition was changed meanwhile, and 410 if listing took too long
 */
export async function migrateStoredVersions(api: ApiClient, kind: Kind, from: StoredVersions): Promise<number> {
  let objects = 0;
  let page: string | undefined;
  do {
    const list = (await api.request({
      method: "GET",
      path: objectsPath(kind, ""),
      query: { limit: String(PAGE), continue: page },
      accept: METADATA,
    })) as MetadataList;
    for (let i = 0; i < list.items.length; i += WRITES) {
      await Promise.all(list.items.slice(i, i + WRITES).map(({ metadata }) => write(api, kind, metadata)));
    }
    objects += list.items.length;
    page = list.metadata.continue || undefined;
  } while (page !== undefined);
  await api.request({
    method: "PATCH",
    path: `${definitionPath(kind)}/status`,
    contentType: MERGE_PATCH,
    body: { metadata: { resourceVersion: from.resourceVersion }, status: { storedVersions: [from.storage] } },
  });
  return objects;
}

const METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const MERGE_PATCH = "application/merge-patch+json";

type Metadata = { readonly namespace?: string; readonly name: string };
type MetadataList = {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly { readonly metadata: Metadata }[];
};

async function write(api: ApiClient, kind: Kind, { namespace = "", name }: Metadata): Promise<void> {
  try {
    const path = objectPath({ kind, namespace, name });
    await api.request({ method: "PATCH", path, contentType: MERGE_PATCH, body: {} });
  } catch (error) {
    // An object that is gone is not stored any more.
    if (!isNotFound(error, objectResource({ kind, name }))) throw error;
  }
}
