import type { KeySource } from "../../../domain/key/stored/stored-key.ts";
import type { Db } from "../../database/change.ts";
import { toDigest } from "../../database/digest.ts";

/** What an import is to be known by. */
type ImportedPrefix = {
  readonly prefix: string;
  readonly digest: string;
  readonly source: KeySource;
  /** The key that the version is to be of; null for one that there is not yet. */
  readonly keyId: string | null;
};

/**
 * Whether lists and logs know another key by this prefix, even one that has ended. A prefix that is given with a hash
 * cannot be checked, so that no other key may have it. A prefix that is read from the secret itself is refused only
 * where the other key was minted: keys of one foreign system may all begin alike, but no honest one begins like a
 * minted key. The same secret again is another fault, with a message of its own.
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
