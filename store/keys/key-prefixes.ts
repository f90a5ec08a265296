import type { KeySource } from "../../domain/key/stored-key.ts";
import type { Db } from "../database/change.ts";
import { toDigest } from "../database/digest.ts";

/** What an import is to be known by. */
type ImportedPrefix = {
  readonly prefix: string;
  readonly digest: string;
  readonly source: KeySource;
  /** The key that the version is to be of; null for one that there is not yet. */
  readonly keyId: string | null;
};

/**
 * Whether lists and logs know another key by this prefix, one that has ended too. Nobody can check the prefix that is
 * given with a hash, so that one must be nobody else's. A secret that was read begins with its own: keys of one foreign
 * system may all begin alike, so that this one is only refused where the other was minted, which no honest text is
 * like. The same secret again is another fault, with a message of its own.
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
