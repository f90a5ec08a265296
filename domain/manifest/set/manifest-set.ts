import { isClusterScoped } from "../../kinds/kinds.ts";
import { type Diagnostic, printable } from "../document/diagnostic.ts";
import type { ManifestDocument } from "../document/parse.ts";
import type { ReadManifest } from "../validation/validate.ts";

/** A document beside what it was read as. */
export type SetEntry = { readonly document: ManifestDocument; readonly read: ReadManifest };

/**
 * What is wrong with manifests that are applied together: the same object declared twice. Of several the later ones
 * are at fault, in the order given.
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
