import type { KeyJson } from "../../server/management/keys/shown/key-json.ts";
import { UsageError } from "../command/usage-error.ts";
import { plainText } from "../output/plain-text.ts";
import type { ManagementClient } from "./management-client.ts";

/** Forms in which a command takes a key, as the description of its argument. */
export const NAMED_KEY = "NAMESPACE/NAME, or its id (key_...)";

/**
 * Finds the key that an argument names. Of several keys of one name the key that is not revoked counts, else the
 * newest.
 *
 * @throws UsageError for an argument that names no key, for several such keys, or for a secret, which belongs on no
 *   command line
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

/** Returns a key's name for messages, without terminal control characters. */
export function keyTitle({ namespace, name, team, prefix }: KeyJson): string {
  const title = namespace === "" ? `${name} of team ${team}` : `${namespace}/${name}`;
  return plainText(`${title}${prefix === null ? "" : ` (${prefix}...)`}`);
}

/** Returns the fields that identify a key in structured output. */
export function namedKeyJson({ id, namespace, name, team, prefix }: KeyJson) {
  return { id, namespace, name, team, prefix };
}
