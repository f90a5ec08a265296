import { UsageError } from "../command/usage-error.ts";
import type { ManagementClient, ObjectJson } from "../management/management-client.ts";

/**
 * The one library of a name, or of `namespace/name`, that the caller sees.
 *
 * @throws UsageError where none is named, or several have the name
 */
export async function findLibrary(
  client: ManagementClient,
  named: string | undefined,
): Promise<ObjectJson<"MemoryLibrary">> {
  if (named === undefined) throw new UsageError("--library is needed: name, or namespace/name");
  const [name = "", namespace] = named.split("/").reverse();
  const found = await client.listObjects("MemoryLibrary", { name, namespace });
  const [library, ...others] = found;
  if (library === undefined) throw new Error(`there is no library ${named}: see keyplane get libraries`);
  if (others.length === 0) return library;
  const places = found.map((each) => `${each.namespace}/${name} of team ${each.team}`).join(", ");
  throw new UsageError(`there are ${found.length} libraries ${name}: ${places}; say which by namespace/name`);
}
