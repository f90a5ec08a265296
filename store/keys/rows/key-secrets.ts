import type { Db } from "../../database/change.ts";

/** A key's Secret as it was found: holding a version of the key, and all else in it as declared. */
export type KeySecret = {
  /** Of the Secret in its cluster. */
  readonly resourceVersion: string;
  /** The version of the key that it held. */
  readonly number: number;
  /** A digest of all else in it as declared: it differs where another declaration would have something else there. */
  readonly content: string;
  /** What others had left on it, for people. */
  readonly marks: readonly string[];
};

/** Records what a key's Secret was found to be. It needs no fence: it was so, whichever process found it. */
export async function recordKeySecret(db: Db, keyId: string, found: KeySecret): Promise<void> {
  const { resourceVersion, number, content, marks } = found;
  const columns = { resource_version: resourceVersion, number, content, marks: [...marks] };
  await db
    .insertInto("key_secrets")
    .values({ key_id: keyId, ...columns })
    .onConflict((conflict) => conflict.column("key_id").doUpdateSet(columns))
    .execute();
}
