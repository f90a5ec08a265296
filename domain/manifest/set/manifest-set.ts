import { isClusterScoped } from "../../kinds/kinds.ts";
import { type Diagnostic, printable } from "../document/diagnostic.ts";
import type { ManifestDocument } from "../document/parse.ts";
import type { ReadManifest } from "../validation/validate.ts";

/** A document with the result of reading it. */
export type SetEntry = { readonly document: ManifestDocument; readonly read: ReadManifest };

/**
 * Finds faults of manifests that are applied together: objects declared more than once. The first declaration stands;
 * the later ones, in the given order, are at fault.
 */
export function findDuplicateManifests(entries: readonly SetEntry[]): Diagnostic[] {
  const first = new Map<string, Diagnostic>();
  return entries.flatMap(({ document, read: { identity } }) => {
    if (identity === undefined) return [];
    const { kind, namespace, name } = identity;
    const known = first.get(`${kind}/${namespace}/${name}`);
    if (known === undefined) {
      first.set(`${kind}/${namespace}/${name}`, document.diagnostic(["metadata", "name"], ""));
      return [];
    }
    const what = kind !== "Secret" && isClusterScoped(kind) ? name : `${namespace}/${name}`;
    const message = `${kind} ${what} is declared in ${printable(known.file)}:${known.line} too: remove one of the two`;
    return [document.diagnostic(["metadata", "name"], message)];
  });
}
