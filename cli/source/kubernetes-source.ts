import { createApiClient } from "../../controller/cluster/kubernetes/api/api-client.ts";
import {
  ApiError,
  isForbidden,
  isNotFound,
  isNotServed,
  readError,
} from "../../controller/cluster/kubernetes/api/api-error.ts";
import { connect } from "../../controller/cluster/kubernetes/api/connection.ts";
import { objectsPath, secretPath, secretResource } from "../../controller/cluster/kubernetes/resources.ts";
import { API_VERSION, isClusterScoped, type Kind } from "../../domain/kinds/kinds.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { StatusObject } from "../data/status-files.ts";
import { changesOf } from "./changes.ts";
import { eventsIn, eventsQuery } from "./kubernetes-events.ts";
import { listAll, type Selectors } from "./list-all.ts";
import { type ListedObject, type ListFilter, matchesFilter, type Source, sortByName } from "./source.ts";
import { watchObjects } from "./watch-objects.ts";

type ClusterChoice = { readonly kubeconfig?: string | undefined; readonly context?: string | undefined };

/** Object with its whole spec. */
type Whole<K extends Kind> = ListedObject<K> & Pick<StatusObject<K>, "spec">;
export type KubernetesSource = Omit<Source, "list"> & {
  list<K extends Kind>(kind: K, wanted: ListFilter): Promise<Whole<K>[]>;
  /** Asks whether a Secret exists, reading only its metadata; undefined if this person may not read it. */
  isSecretThere(ref: { readonly namespace: string; readonly name: string }): Promise<boolean | undefined>;
};

/** Media type of an object's metadata without its content. */
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/**
 * Creates the source of what a Kubernetes cluster holds, read with the rights of the person who asks. It writes
 * nothing.
 *
 * @throws KubeconfigError if the flags lead to no cluster
 */
export function kubernetesSource({ kubeconfig, context }: ClusterChoice): KubernetesSource {
  const connection = connect(kubeconfig, systemClock, context);
  const api = createApiClient({ connection, random: Math.random, log: () => {} });

  async function list(kind: Kind, wanted: ListFilter): Promise<unknown[]> {
    try {
      return await listAll(api, ...objectsQuery(kind, wanted));
    } catch (error) {
      if (isNotServed(error)) throw new Error("the cluster does not serve the kinds of Keyplane: apply crds/ to it");
      throw failedRead(error, `listing ${kind}s`, connection.server);
    }
  }

  return {
    from: "kubeconfig",
    async list<K extends Kind>(kind: K, wanted: ListFilter) {
      const objects = (await list(kind, wanted)).flatMap((raw) => seenObject(kind, raw));
      return sortByName(objects.filter((object) => matchesFilter(wanted, object)));
    },
    async isSecretThere(ref) {
      try {
        await api.request({ method: "GET", path: secretPath(ref), accept: METADATA });
        return true;
      } catch (error) {
        if (isNotFound(error, secretResource(ref.name))) return false;
        if (isForbidden(error)) return undefined;
        throw failedRead(error, `reading the metadata of Secret ${ref.namespace}/${ref.name}`, connection.server);
      }
    },
    callers: async () => undefined,
    budgets: async () => undefined,
    async events(wanted) {
      try {
        return eventsIn(await listAll(api, ...eventsQuery(wanted)), wanted);
      } catch (error) {
        throw failedRead(error, "listing events", connection.server);
      }
    },
    notes: async () => [],
    changes: (kinds, wanted, signal) =>
      changesOf(async (notify) => {
        const queries = kinds.flatMap((kind) => wanted.map((one) => objectsQuery(kind, one)));
        await Promise.all(queries.map((query) => watchObjects(api, ...query, notify, signal)));
      }),
    close: api.close,
  };
}

/** Returns the path and selectors by which the API server finds objects. */
function objectsQuery(kind: Kind, { namespace = "", name, labels }: ListFilter): [path: string, selectors: Selectors] {
  const path = objectsPath(kind, isClusterScoped(kind) ? "" : namespace);
  return [path, { fieldSelector: name && `metadata.name=${name}`, labelSelector: labels?.text }];
}

/** Returns an object as listed; empty if it is not an object. `managedFields` is left out, as kubectl does. */
function seenObject<K extends Kind>(kind: K, raw: unknown): Whole<K>[] {
  if (!isRecord(raw) || !isRecord(raw.metadata)) return [];
  const { managedFields: _, ...metadata } = raw.metadata;
  const json = { ...raw, apiVersion: API_VERSION, kind, metadata };
  // The API server has checked it by the schema of its kind.
  const { spec, status } = raw as Pick<StatusObject<K>, "spec" | "status">;
  const named = { namespace: "", ...metadata } as StatusObject<K>["metadata"];
  return [{ kind, metadata: named, spec, status, json }];
}

/** Returns the error of a failed read. If there was no answer, it names the server. */
function failedRead(error: unknown, doing: string, server: URL): Error {
  if (!(error instanceof ApiError && error.status === null)) return readError(error, doing);
  return new Error(`while ${doing}: ${error.message}: see that the cluster's API server runs at ${server.origin}`);
}
