import type { KeyJson } from "../../server/management/keys/shown/key-json.ts";
import { UsageError } from "../command/usage-error.ts";
import { plainText } from "../output/plain-text.ts";
import type { ManagementClient } from "./management-client.ts";

/** How a command takes a key; its argument's description. */
export const NAMED_KEY = "NAMESPACE/NAME, or its id (key_...)";

/**
 * Finds the key that an argument names: of several of one name the one that is not revoked, else the newest.
 *
 * @throws UsageError for an argument that names no key, or a secret that should be nowhere near a command line
 */
export async function findNamedKey(client: ManagementClient, text: string): Promise<KeyJson> {
  if (text.startsWith("inf_")) {
    throw new UsageError("that is the beginning of a secret, which belongs on no command line: name the key instead");
  }
  if (text.startsWith("key_")) return client.getKey(text);
  const [namespace = "", name = "", ...rest] = text.split("/");
  if (namespace === "" || name === "" || rest.length > 0) throw new UsageError(`${text}: give the ${NAMED_KEY}`);
  const keys = await client.listKeys({ namespace, name });
  const living = keys.filter(({ state }) => state !== "revoked");
  if (living.length > 1) {
    const ids = living.map(({ id }) => id).join(", ");
    throw new UsageError(`there are ${living.length} keys ${text}, in several clusters: say which by its id: ${ids}`);
  }
  const newest = keys.toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))[0];
  const found = living[0] ?? newest;
  if (found === undefined) throw new Error(`there is no key ${text}: see keyplane get keys`);
  return found;
}

/** A key as messages name it: without what a terminal obeys. */
export function keyTitle({ namespace, name, team, prefix }: KeyJson): string {
  const title = namespace === "" ? `${name} of team ${team}` : `${namespace}/${name}`;
  return plainText(`${title}${prefix === null ? "" : ` (${prefix}...)`}`);
}

/** By what a command's document names a key. */
export function namedKeyJson({ id, namespace, name, team, prefix }: KeyJson) {
  return { id, namespace, name, team, prefix };
}
