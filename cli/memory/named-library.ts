import { UsageError } from "../command/usage-error.ts";
import type { ManagementClient } from "../management/management-client.ts";

/** Library that a command names. */
type NamedLibrary = { readonly id: string; readonly name: string };

/**
 * Finds the only library visible to the caller with an id, a name or `namespace/name`. A library whose declaration is
 * gone but whose atoms are kept is found too.
 *
 * @throws UsageError if no library is named, or several have the name
 */
export async function findLibrary(client: ManagementClient, named: string | undefined): Promise<NamedLibrary> {
  if (named === undefined) throw new UsageError("--library is needed: name, namespace/name, or an id");
  // No name of a declaration has an underscore.
  if (/^lib_/.test(named)) return { id: named, name: named };
  const [name = "", namespace] = named.split("/").reverse();
  const [active, retained] = await Promise.all([
    client.listObjects("MemoryLibrary", { name, namespace }),
    client.listRetainedLibraries({ name, namespace }),
  ]);
  const found = [
    ...active.map((each) => ({ ...each, note: "" })),
    ...retained.map((each) => ({ ...each, note: ", retained" })),
  ];
  const [library, ...others] = found;
  if (library === undefined) {
    throw new Error(`there is no library ${named}, nor one that is retained: see keyplane get libraries`);
  }
  if (others.length === 0) return library;
  const choices = found.map((each) => `${each.id} (${each.namespace}/${name} of team ${each.team}${each.note})`);
  throw new UsageError(`there are ${found.length} libraries ${named}: ${choices.join(", ")}; say which by its id`);
}
