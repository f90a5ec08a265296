import { keyDigest, keyShape } from "../../domain/key/secret/key-format.ts";

/**
 * A development key of `PLATFORM_API_KEYS` (spec §2.10): its digest, and the team that it asks for; null for the only
 * one.
 */
export type Placeholder = { readonly digest: string; readonly team: string | null };

/**
 * Reads `PLATFORM_API_KEYS`: `key` or `key@team`, separated by commas. The plaintext is forgotten here.
 *
 * @returns faults name an entry by its position, never by its text
 */
export function parsePlaceholders(text: string): { placeholders: Placeholder[]; faults: string[] } {
  const placeholders: Placeholder[] = [];
  const faults: string[] = [];
  for (const [index, entry] of text.split(",").entries()) {
    const trimmed = entry.trim();
    if (trimmed === "") continue;
    const at = trimmed.lastIndexOf("@");
    const key = at === -1 ? trimmed : trimmed.slice(0, at);
    const team = at === -1 ? null : trimmed.slice(at + 1);
    if (keyShape(key) === "malformed" || team === "") {
      faults.push(
        `PLATFORM_API_KEYS, entry ${index + 1}: must be a key that begins with inf_, with @team behind it where there are several teams; one of 61 characters needs a valid checksum`,
      );
      continue;
    }
    placeholders.push({ digest: keyDigest(key), team });
  }
  return { placeholders, faults };
}
