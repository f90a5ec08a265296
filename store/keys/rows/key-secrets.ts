import type { Db } from "../../database/change.ts";

/** Secret of a key as it was found: it holds a version of the key, and all else in it is as declared. */
export type KeySecret = {
  /** Resource version of the Secret in its cluster. */
  readonly resourceVersion: string;
  /** Number of the key's version that it held. */
  readonly number: number;
  /** Digest of all else that is declared for it: another declaration with other content has another digest. */
  readonly content: string;
  /** Marks that other writers left on it, for people. */
  readonly marks: readonly string[];
};

/** Records the state in which a key's Secret was found. It needs no fence: the finding is true, whichever controller made it. */
export async function recordKeySecret(db: Db, keyId: string, found: KeySecret): Promise<void> {
  const { resourceVersion, number, content, marks } = found;
  const columns = { resource_version: resourceVersion, number, content, marks: [...marks] };
  await db
    .insertInto("key_secrets")
    .values({ key_id: keyId, ...columns })
    .onConflict((conflict) => conflict.column("key_id").doUpdateSet(columns))
    .execute();
}
