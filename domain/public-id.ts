import { createHash } from "node:crypto";

const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/**
 * Returns the public id of a gateway whose declaration gives none: 16 characters (80 bits) derived from its uid and
 * team, so that every reconciliation finds the same, and a team never gets the address of another.
 *
 * @param team what tells the team from others, also after a restore of the database where the gateway outlives one
 */
export function generatedPublicId(uid: string, team: string): string {
  const bytes = createHash("sha256").update(`keyplane public id\0${uid}\0${team}`).digest();
  return `gw-${[...bytes.subarray(0, 16)].map((byte) => BASE32.charAt(byte & 31)).join("")}`;
}
