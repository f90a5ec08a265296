import type { KeySource } from "../../../domain/key/stored/stored-key.ts";
import type { Db } from "../../database/change.ts";
import { toDigest } from "../../database/digest.ts";

/** Prefix of an imported secret, with the secret's digest and its key. */
type ImportedPrefix = {
  readonly prefix: string;
  readonly digest: string;
  readonly source: KeySource;
  /** Key that the version belongs to; null if that key does not exist yet. */
  readonly keyId: string | null;
};

/**
 * True if another key, even an ended key, already appears in lists and logs under this prefix. A prefix that is given
 * with a hash cannot be checked, so no other key may have it. A prefix that is read from the secret itself is refused
 * only if the other key was minted: keys of one foreign system may all begin alike, but no honest key begins like a
 * minted key. A secret that is imported twice is another error, with its own message.
 */
export async function isPrefixTaken(db: Db, { prefix, digest, source, keyId }: ImportedPrefix): Promise<boolean> {
  const other = await db
    .selectFrom("key_versions")
    .select("key_id")
    .where("prefix", "=", prefix)
    .where("digest", "<>", toDigest(digest))
    .$if(keyId !== null, (query) => query.where("key_id", "<>", keyId ?? ""))
    .$if(source === "ImportSecret", (query) => query.where("source_kind", "<>", "imported"))
    .limit(1)
    .executeTakeFirst();
  return other !== undefined;
}
