import { randomBytes } from "node:crypto";

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** Makes a new random id: the prefix, an underscore and 20 lower-case base32 characters (100 bits). */
export function newId(prefix: "key" | "team" | "lib" | "part" | "gw" | "hook" | "evt"): string {
  let id = `${prefix}_`;
  for (const byte of randomBytes(20)) id += BASE32.charAt(byte & 31);
  return id;
}

/** True if a text looks like an id of any object. Other texts are not looked up in the database. */
export function isId(text: string): boolean {
  return /^[a-z]{2,4}_[a-z2-7]{1,32}$/.test(text);
}
