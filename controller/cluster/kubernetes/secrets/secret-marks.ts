/** Marks of other tools that manage a Secret, by its metadata: they help a person to find out which tool deletes it. */
import { isRecord } from "../../../../domain/manifest/document/identity.ts";
import { sanitizeUntrusted } from "../../../../domain/redact.ts";

/**
 * Limits of the number of marks and of their characters: more than any tools leave together, and longer than their
 * names are. The rest is cut.
 */
const MAX_MARKS = 8;
const MAX_MARK = 120;

/** Annotations by which Argo CD and Helm recognise the objects that they manage and prune. */
const ANNOTATIONS = [
  "argocd.argoproj.io/tracking-id",
  "meta.helm.sh/release-name",
  "meta.helm.sh/release-namespace",
] as const;
/** Labels by which Argo CD, Flux and Helm do so. */
export const TOOL_LABELS: readonly string[] = [
  "argocd.argoproj.io/instance",
  "app.kubernetes.io/instance",
  "app.kubernetes.io/managed-by",
  "kustomize.toolkit.fluxcd.io/name",
  "kustomize.toolkit.fluxcd.io/namespace",
  "helm.toolkit.fluxcd.io/name",
  "helm.toolkit.fluxcd.io/namespace",
];

/**
 * Returns the marks on an object, sorted, without anything that may be a key.
 *
 * @param metadata as the API server answers it
 * @param fieldManager our own, which is no mark
 */
export function secretMarks(metadata: Readonly<Record<string, unknown>>, fieldManager: string): string[] {
  const { managedFields, labels, annotations } = metadata;
  const managers = (Array.isArray(managedFields) ? managedFields : [])
    .map((entry: unknown) => (isRecord(entry) ? entry.manager : undefined))
    .filter((manager) => typeof manager === "string" && manager !== fieldManager)
    .map((manager) => `field manager ${manager}`);
  const marks = [...managers, ...texts("annotation", annotations, ANNOTATIONS), ...texts("label", labels, TOOL_LABELS)];
  return [...new Set(marks.map((mark) => sanitizeUntrusted(mark, MAX_MARK)))].sort().slice(0, MAX_MARKS);
}

function texts(what: string, map: unknown, names: readonly string[]): string[] {
  const values = isRecord(map) ? map : {};
  return names.flatMap((name) => {
    const value = values[name];
    return typeof value === "string" ? [`${what} ${name}=${value}`] : [];
  });
}
