import { sql } from "kysely";
import { type Db, MADE_HERE, type Tx } from "../database/change.ts";
import { toDigest } from "../database/digest.ts";
import { DATABASE_NOW, databaseTimeIn, toMs } from "../database/times.ts";

/**
 * Stores a one-time link.
 *
 * @param digest SHA-256 of the secret in the link, 32 latin1 characters
 * @returns end of the link, in milliseconds since the epoch
 */
export async function addSignInLink(db: Db, digest: string, lifetimeMs: number): Promise<number> {
  const { rows } = await sql<{ expires_at: Date }>`insert into sign_in_links (digest, expires_at)
    values (${toDigest(digest)}, ${databaseTimeIn(lifetimeMs)}) returning expires_at`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("the database returned no row for what it inserted");
  return toMs(row.expires_at);
}

/** Uses up a link. Returns false if it has expired, was used, never existed, or came back with a restored backup. */
export async function takeSignInLink(tx: Tx, digest: string): Promise<boolean> {
  const taken = await tx
    .deleteFrom("sign_in_links")
    .where("digest", "=", toDigest(digest))
    .returning(sql<boolean>`expires_at > ${DATABASE_NOW} and ${MADE_HERE}`.as("is_good"))
    .executeTakeFirst();
  return taken?.is_good === true;
}
