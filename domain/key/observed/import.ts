import { keyDigest, keyPrefix, keyShape, MIN_IMPORTED_CHARACTERS } from "../secret/key-format.ts";
import type { Importable } from "./observed-key.ts";

/** Returns the digest and prefix of a secret to import, or the problem with it. The problem never quotes the secret. */
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

/** Returns the digest and prefix of a secret that is imported by its hash alone. */
export function importHash(hash: { readonly sha256: string; readonly prefix: string }) {
  return { digest: Buffer.from(hash.sha256, "hex").toString("latin1"), prefix: hash.prefix };
}
