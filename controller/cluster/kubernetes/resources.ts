/** Paths and names of resources in the Kubernetes API. */
import { API_VERSION, isClusterScoped, KINDS, type Kind } from "../../../domain/kinds/kinds.ts";
import type { ResourceName } from "./api/api-error.ts";

const PLURALS: Readonly<Record<Kind, string>> = {
  PlatformKey: "platformkeys",
  PlatformTeam: "platformteams",
  PlatformKeyPolicy: "platformkeypolicies",
  ModelGateway: "modelgateways",
  MemoryLibrary: "memorylibraries",
};

const WORKLOADS: Readonly<Record<string, string>> = {
  Deployment: "deployments",
  StatefulSet: "statefulsets",
  DaemonSet: "daemonsets",
};

type NamespacedName = { readonly namespace: string; readonly name: string };

/** Returns the path of a collection; that of all namespaces if `namespace` is empty. */
function collection(base: string, namespace: string, plural: string): string {
  return namespace === "" ? `${base}/${plural}` : `${base}/namespaces/${encodeURIComponent(namespace)}/${plural}`;
}

/** Returns the path of all objects of a kind of ours, in one namespace or, if it is empty, in all. */
export function objectsPath(kind: Kind, namespace: string): string {
  return collection(`/apis/${API_VERSION}`, namespace, PLURALS[kind]);
}

export function objectPath({ kind, namespace, name }: NamespacedName & { readonly kind: Kind }): string {
  return `${objectsPath(kind, namespace)}/${encodeURIComponent(name)}`;
}

/** Group of our own kinds. */
const [GROUP = ""] = API_VERSION.split("/");

export const objectResource = ({ kind, name }: { readonly kind: Kind; readonly name: string }): ResourceName => ({
  group: GROUP,
  resource: PLURALS[kind],
  name,
});

/** Returns the name of a kind's CustomResourceDefinition. */
export const definitionName = (kind: Kind): string => `${PLURALS[kind]}.${GROUP}`;
export const definitionPath = (kind: Kind): string =>
  `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${definitionName(kind)}`;

export const secretResource = (name: string): ResourceName => ({ group: "", resource: "secrets", name });
export const namespaceResource = (name: string): ResourceName => ({ group: "", resource: "namespaces", name });
export const leaseResource = (name: string): ResourceName => ({
  group: "coordination.k8s.io",
  resource: "leases",
  name,
});

export function secretsPath(namespace: string): string {
  return collection("/api/v1", namespace, "secrets");
}

export function secretPath({ namespace, name }: NamespacedName): string {
  return `${secretsPath(namespace)}/${encodeURIComponent(name)}`;
}

/** Returns the path of a workload; undefined for a kind that has no pods to restart. */
export function workloadPath(kind: string, { namespace, name }: NamespacedName): string | undefined {
  const plural = WORKLOADS[kind];
  return plural && `${collection("/apis/apps/v1", namespace, plural)}/${encodeURIComponent(name)}`;
}

/**
 * Returns the path of a namespace's events. Events about an object without a namespace are in `default`, by convention.
 */
export function eventsPath(namespace: string): string {
  return collection("/apis/events.k8s.io/v1", namespace || "default", "events");
}

/** Path of the events of all namespaces. */
export const ALL_EVENTS_PATH = "/apis/events.k8s.io/v1/events";

export function leasesPath(namespace: string): string {
  return collection("/apis/coordination.k8s.io/v1", namespace, "leases");
}

export const namespacePath = (name: string): string => `/api/v1/namespaces/${encodeURIComponent(name)}`;
export const KUBE_SYSTEM_PATH = namespacePath("kube-system");

/** Returns the collections to watch: each kind in each namespace that is served, or in all if `namespaces` is null. */
export function watchedCollections(namespaces: readonly string[] | null): { kind: Kind; namespace: string }[] {
  return KINDS.flatMap((kind) =>
    (isClusterScoped(kind) ? [""] : (namespaces ?? [""])).map((namespace) => ({ kind, namespace })),
  );
}
