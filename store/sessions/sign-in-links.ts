import { sql } from "kysely";
import { DATABASE_NUMBER, type Db, type Tx } from "../database/change.ts";
import { toDigest } from "../database/digest.ts";
import { DATABASE_NOW, databaseTimeIn, toMs } from "../database/times.ts";

/**
 * Keeps a one-time link.
 *
 * @param digest SHA-256 of what the link holds, 32 latin1 characters
 * @returns when it ends, in milliseconds since the epoch
 */
export async function addSignInLink(db: Db, digest: string, lifetimeMs: number): Promise<number> {
  const { rows } = await sql<{ expires_at: Date }>`insert into sign_in_links (digest, expires_at)
    values (${toDigest(digest)}, ${databaseTimeIn(lifetimeMs)}) returning expires_at`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error("the database returned no row for what it inserted");
  return toMs(row.expires_at);
}

/** Uses a link up. False where it is over, was used, never was, or was brought back by a restored backup. */
export async function takeSignInLink(tx: Tx, digest: string): Promise<boolean> {
  const taken = await tx
    .deleteFrom("sign_in_links")
    .where("digest", "=", toDigest(digest))
    .returning(sql<boolean>`expires_at > ${DATABASE_NOW} and made_in = ${DATABASE_NUMBER}`.as("is_good"))
    .executeTakeFirst();
  return taken?.is_good === true;
}
