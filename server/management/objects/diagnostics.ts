import type { Kind, Spec } from "../../../domain/kinds/kinds.ts";
import { formatPath, type Path } from "../../../domain/manifest/document/diagnostic.ts";
import { checkName, checkNamespace } from "../../../domain/manifest/document/identity.ts";
import { checkSpec, type FieldDiagnostic, toFieldDiagnostic } from "../../../domain/manifest/validation/check-spec.ts";
import { containsWholeKey, redactKeys } from "../../../domain/redact.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";

/**
 * Returns the refusal of faulty content: each field with what to write instead, without keys that were in the content.
 */
export function invalid(diagnostics: readonly FieldDiagnostic[]): Problem {
  const errors = diagnostics.map(({ path, message }) => ({ path: redactKeys(path), message: redactKeys(message) }));
  const [first, ...more] = errors;
  const detail = first && `${first.path} ${first.message}${more.length > 0 ? ` (and ${more.length} more)` : ""}.`;
  return problem("invalid", detail, undefined, { errors });
}

/** Object as a request gives it. */
export type GivenObject = { readonly name: string; readonly namespace: string; readonly spec: unknown };

/**
 * Parses an object: its names by the rules of Kubernetes, its spec by the schema and rules of its kind. No text of the
 * spec may hold a key, since it is kept and shown to all who may look at the object (threats b78); a stored text stays,
 * wherever it is.
 *
 * @param old stored spec and status of an object that is to be changed, as far as transition rules read them
 * @param stored all of it that is shown
 * @throws Problem `invalid` with all faults
 */
export function readGivenObject<K extends Kind>(
  kind: K,
  { name, namespace, spec }: GivenObject,
  old?: { readonly spec: unknown; readonly status: unknown },
  stored: unknown = old?.spec,
): Spec<K> {
  const names = [
    ...checkName(name, MAX_NAME_LENGTH, ["name"]),
    ...(namespace === "" ? [] : checkNamespace(namespace, ["namespace"])),
  ].map(toFieldDiagnostic);
  const checked = checkSpec(kind, name, spec, old);
  const ofSpec =
    "diagnostics" in checked ? checked.diagnostics : pastedKeys(checked.spec, new Set(textsOf(stored)), ["spec"]);
  const diagnostics = [...names, ...ofSpec];
  if (diagnostics.length > 0 || "diagnostics" in checked) throw invalid(diagnostics);
  return checked.spec;
}

const MAX_NAME_LENGTH = 63;

/** Returns the faults of texts that hold a whole key, and are not stored so. A model may be named `inf_llama-70b`. */
function pastedKeys(value: unknown, stored: ReadonlySet<string>, path: Path): FieldDiagnostic[] {
  if (typeof value === "string") {
    return stored.has(value) || !containsWholeKey(value) ? [] : [{ path: formatPath(path), message: HOLDS_KEY }];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    pastedKeys(inner, stored, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

const HOLDS_KEY = "holds what looks like a key: write it without, it is kept";
