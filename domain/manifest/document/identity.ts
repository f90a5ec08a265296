import { API_VERSIONS, isClusterScoped, isKind, KINDS, type Kind } from "../../kinds/kinds.ts";
import type { Complaint, Path } from "./diagnostic.ts";
import { quote } from "./diagnostic.ts";
import { checkLabels } from "./labels.ts";
import { suggest, suggestion } from "./suggestion.ts";

/** The kinds that a folder of manifests may hold: ours, and the core Secret for providers' credentials (spec §8). */
const ACCEPTED = [...KINDS, "Secret"] as const;

/** Identity that a manifest states. The namespace is empty for a cluster-scoped kind. */
export type ManifestIdentity = { readonly kind: Kind | "Secret"; readonly namespace: string; readonly name: string };

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const OF_THE_CLUSTER = [
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "deletionTimestamp",
  "finalizers",
  "generation",
  "managedFields",
  "ownerReferences",
  "resourceVersion",
  "selfLink",
  "uid",
];

/** Fields that a manifest may set under `metadata`. */
export const WRITABLE: readonly string[] = ["name", "namespace", "labels", "annotations"];

/**
 * Parses kind, apiVersion and metadata. The kind is undefined if it is unknown what the rest should be; the identity is
 * undefined if it is unknown which object this is.
 */
export function readManifestIdentity(manifest: Readonly<Record<string, unknown>>): {
  kind: ManifestIdentity["kind"] | undefined;
  identity: ManifestIdentity | undefined;
  complaints: Complaint[];
} {
  const { kind, apiVersion } = manifest;
  if (typeof kind !== "string") return unidentified(["kind"], `name the kind: ${suggestion("", ACCEPTED)} as kind`);
  if (!isKind(kind) && kind !== "Secret") {
    return unidentified(["kind"], `unknown kind ${quote(kind)}: ${explainKind(kind)}`);
  }
  const versions: readonly unknown[] = kind === "Secret" ? ["v1"] : API_VERSIONS;
  if (!versions.includes(apiVersion)) {
    return unidentified(
      ["apiVersion"],
      apiVersion === undefined
        ? `missing apiVersion: write apiVersion: ${versions[0]}`
        : `unknown apiVersion ${quote(apiVersion)} of ${kind}: write ${versions.join(" or ")}`,
    );
  }
  const { metadata } = manifest;
  if (!isRecord(metadata)) {
    return { ...unidentified(["metadata"], "missing metadata: write its name, and its namespace"), kind };
  }

  const complaints = [
    ...checkFields(metadata),
    ...checkName(metadata.name, kind === "Secret" ? 253 : 63),
    ...(kind !== "Secret" && isClusterScoped(kind)
      ? checkNoNamespace(metadata, kind)
      : checkNamespace(metadata.namespace)),
  ];
  const named = !complaints.some(({ path, severity }) => severity !== "warning" && isNaming(path));
  return {
    kind,
    identity: named ? { kind, namespace: String(metadata.namespace ?? ""), name: String(metadata.name) } : undefined,
    complaints,
  };
}

function unidentified(path: Path, message: string): { kind: undefined; identity: undefined; complaints: Complaint[] } {
  return { kind: undefined, identity: undefined, complaints: [{ path, message }] };
}

function explainKind(kind: string): string {
  const near = suggest(kind, ACCEPTED);
  return near === undefined
    ? `only ${ACCEPTED.join(", ")} are read here; move it to another folder`
    : `did you mean ${near}?`;
}

function isNaming(path: Path): boolean {
  return path[1] === "name" || path[1] === "namespace";
}

/** Checks for unknown metadata: fields that only the cluster writes grant nothing and get a warning, others a fault. */
function checkFields(metadata: Readonly<Record<string, unknown>>): Complaint[] {
  return Object.entries(metadata).flatMap(([field, value]): Complaint[] => {
    const path = ["metadata", field];
    if (OF_THE_CLUSTER.includes(field)) {
      return [
        { path, of: "key", severity: "warning", message: "is written by the cluster and grants nothing: remove it" },
      ];
    }
    if (!WRITABLE.includes(field)) {
      return [{ path, of: "key", message: `unknown field: ${suggestion(field, WRITABLE)}` }];
    }
    if ((field !== "labels" && field !== "annotations") || value === null) return [];
    return isRecord(value) ? checkLabels(field, value) : [{ path, message: "must be a mapping of names to text" }];
  });
}

/**
 * Checks the name of an object.
 *
 * @param maxLength 63 for objects of ours
 */
export function checkName(name: unknown, maxLength: number, path: Path = ["metadata", "name"]): Complaint[] {
  if (name === undefined || name === null) return [{ path, message: "missing name: write metadata.name" }];
  if (typeof name !== "string") return [{ path, message: "must be text: write the name in quotes" }];
  if (name.length > maxLength) return [{ path, message: `is longer than ${maxLength} characters: shorten it` }];
  return DNS_SUBDOMAIN.test(name)
    ? []
    : [
        {
          path,
          message: `${quote(name)} is no name: use lower-case letters, digits, - and ., and begin and end with a letter or digit`,
        },
      ];
}

export function checkNamespace(namespace: unknown, path: Path = ["metadata", "namespace"]): Complaint[] {
  if (namespace === undefined || namespace === null) {
    return [{ path, message: "missing namespace: write metadata.namespace" }];
  }
  if (typeof namespace !== "string") return [{ path, message: "must be text: write the namespace in quotes" }];
  if (namespace.length > 63) return [{ path, message: "is longer than 63 characters: shorten it" }];
  return DNS_LABEL.test(namespace)
    ? []
    : [
        {
          path,
          message: `${quote(namespace)} is no namespace: use lower-case letters, digits and -, and begin and end with a letter or digit`,
        },
      ];
}

function checkNoNamespace(metadata: Readonly<Record<string, unknown>>, kind: string): Complaint[] {
  if (metadata.namespace === undefined) return [];
  const message = `a ${kind} belongs to the whole cluster: remove namespace`;
  return [{ path: ["metadata", "namespace"], of: "key", message }];
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
