import { keyDigest, keyPrefix, keyShape, MIN_IMPORTED_CHARACTERS } from "../secret/key-format.ts";
import type { Importable } from "./observed-key.ts";

/** What importing a secret given as text would learn of it. The problem never quotes it. */
export function importText(text: string): Importable {
  if (!text.startsWith("inf_") || text.length < 4 + MIN_IMPORTED_CHARACTERS) {
    return { problem: `The secret must be inf_ and at least ${MIN_IMPORTED_CHARACTERS} characters more.` };
  }
  if (keyShape(text) === "malformed") {
    return {
      problem:
        "The secret has spaces or other characters that no header carries, or 61 characters and a wrong checksum.",
    };
  }
  return { digest: keyDigest(text), prefix: keyPrefix(text) };
}

/** What importing a secret by its hash alone would learn. */
export function importHash(hash: { readonly sha256: string; readonly prefix: string }) {
  return { digest: Buffer.from(hash.sha256, "hex").toString("latin1"), prefix: hash.prefix };
}
