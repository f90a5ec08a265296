/**
 * The one encryption key under which credentials and signing secrets are stored. The database knows it by its
 * fingerprint. Every process needs it to start, and every writer encrypts under it. Another key can replace it only
 * when every replica has that other key.
 */
import { sql } from "kysely";
import { rfc3339 } from "../../domain/rfc3339.ts";
import { change, type Db, type Tx } from "../database/change.ts";
import { EncryptionKeyError } from "../database/errors.ts";
import type { Store } from "../database/store.ts";
import { MAY_SERVE } from "../replicas/replica-health.ts";
import { type Keyring, openSealed, seal } from "./keyring.ts";

/** Columns with encrypted texts, each with the column whose value is bound to the text as additional data. */
const SEALED = [
  { table: "gateway_upstreams", column: "credential", aad: "gateway_id", of: "an upstream of gateway" },
  { table: "team_webhooks", column: "secret", aad: "id", of: "webhook" },
] as const;

/**
 * Returns SQL for the beginning of a sealed text's key fingerprint. A sealed text begins with the byte 1 and four bytes
 * of that fingerprint (keyring.ts).
 */
const keyOf = (column: string) => sql<string>`encode(substring(${sql.ref(column)} from 2 for 4), 'hex')`;
const isSealed = (column: string) =>
  sql<boolean>`${sql.ref(column)} is not null and get_byte(${sql.ref(column)}, 0) = 1`;

/** Reads the fingerprint of the key that encrypts; undefined if no process has started with a key yet. */
async function currentKey(db: Db): Promise<{ fingerprint: string; since: Date } | undefined> {
  return db.selectFrom("encryption_key").select(["fingerprint", "since"]).executeTakeFirst();
}

/**
 * Compares the given keys with the keys that the database needs.
 *
 * @throws EncryptionKeyError saying by its fingerprint which key is missing, and what to do
 */
export async function checkKeyring(db: Db, keyring: Keyring): Promise<void> {
  const current = await currentKey(db);
  if (current !== undefined && !has(keyring, current.fingerprint)) {
    const what = `this database's credentials are stored under the encryption key ${current.fingerprint}, since ${rfc3339(current.since.getTime())}`;
    throw new EncryptionKeyError(`${what}, and ${givenText(keyring)}. ${nextStep(current.fingerprint)}`);
  }
  for (const { id, credentials } of await sealedUnder(db)) {
    if (has(keyring, id)) continue;
    const what = `${credentials} ${credentials === 1 ? "credential is" : "credentials are"} stored under the encryption key ${id}`;
    throw new EncryptionKeyError(`${what}, and ${givenText(keyring)}. ${nextStep(id)}`);
  }
}

/**
 * Checks the keys like {@link checkKeyring}, at the start of a process that works on the database. The first process
 * that starts decides under which key texts are encrypted: the others must have it.
 */
export async function assertKeyring(db: Db, keyring: Keyring): Promise<void> {
  await checkKeyring(db, keyring);
  const [first] = keyring;
  if (first === undefined) return;
  await sql`insert into encryption_key (fingerprint) values (${first.fingerprint}) on conflict do nothing`.execute(db);
  await checkKeyring(db, keyring);
}

/**
 * Makes the first key the current key, and encrypts anew what is stored under another: the second step of a rotation
 * (docs/operations/encryption-keys.md).
 *
 * @param unreadable called with a warning about each credential that no key decrypts, which is left as it is
 * @returns number of credentials that were encrypted anew
 * @throws EncryptionKeyError if a serving replica does not have the first key
 */
export async function adoptFirstKey(
  store: Store,
  keyring: Keyring,
  unreadable: (warning: string) => void = () => {},
): Promise<number> {
  await assertKeyring(store.db, keyring);
  const [first] = keyring;
  if (first === undefined) return 0;
  await store.db.transaction().execute(async (tx) => {
    const { fingerprint } = await tx.selectFrom("encryption_key").selectAll().forUpdate().executeTakeFirstOrThrow();
    if (fingerprint === first.fingerprint) return;
    await assertReplicasHave(tx, first.fingerprint);
    await tx
      .updateTable("encryption_key")
      .set({ fingerprint: first.fingerprint, since: sql`clock_timestamp()` })
      .execute();
  });
  const { count, left } = await sealAnew(store, keyring);
  for (const what of left) {
    unreadable(
      `a stored credential cannot be decrypted, and stays as it is: that of ${what}. Enter it again; a declared one is read again from its Secret.`,
    );
  }
  return count;
}

async function assertReplicasHave(tx: Tx, fingerprint: string): Promise<void> {
  const lacking = await tx
    .selectFrom("replicas")
    .select("id")
    .where(MAY_SERVE)
    .where(sql<boolean>`not (${fingerprint} = any(coalesce(encryption_keys, '{}')))`)
    .orderBy("id")
    .execute();
  if (lacking.length === 0) return;
  throw new EncryptionKeyError(
    `the first encryption key, ${fingerprint}, is not given to ${lacking.length} of the servers (${lacking[0]?.id}): ` +
      "they could not open what is stored under it. Give it to every server as a further line, then put it first.",
  );
}

/**
 * Encrypts credentials under old keys anew: those of the management API have no declaration to be read from again.
 *
 * @returns the number of credentials, and what those belong to that no key decrypts
 */
async function sealAnew(store: Store, keyring: Keyring): Promise<{ count: number; left: readonly string[] }> {
  const [first] = keyring;
  const old = (await sealedUnder(store.db)).map(({ id }) => id).filter((id) => !first?.fingerprint.startsWith(id));
  if (old.length === 0) return { count: 0, left: [] };
  const { result } = await change(store, null, async (tx) => {
    let count = 0;
    const left: string[] = [];
    for (const { table, column, aad, of } of SEALED) {
      const { rows } = await sql<{ place: string; sealed: Uint8Array; aad: string }>`
        select ctid::text as place, ${sql.ref(column)} as sealed, ${sql.ref(aad)} as aad from ${sql.table(table)}
        where ${isSealed(column)} and ${keyOf(column)} = any(${old}::text[]) order by ${sql.ref(aad)} for update`.execute(
        tx,
      );
      for (const row of rows) {
        const text = openSealed(keyring, row.sealed, row.aad);
        if (text === null) {
          left.push(`${of} ${row.aad}`);
          continue;
        }
        const anew = seal(keyring, text, row.aad);
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${anew} where ctid = ${row.place}::tid`.execute(
          tx,
        );
      }
      count += rows.length;
    }
    return { count: count - left.length, left };
  });
  return result;
}

/**
 * Returns the keys in the order for a writer: the current key comes first, whatever order this process was started
 * with.
 *
 * @throws EncryptionKeyError if the current key is not among them: another key has become current since the start
 */
export async function sealingKeyring(tx: Tx, keyring: Keyring): Promise<Keyring> {
  // For share: a process that changes the key waits until it can see what is sealed here, and seal it anew.
  const current = await tx.selectFrom("encryption_key").select("fingerprint").forShare().executeTakeFirst();
  if (current === undefined) return keyring;
  const first = keyring.find(({ fingerprint }) => fingerprint === current.fingerprint);
  if (first !== undefined) return [first, ...keyring.filter((entry) => entry !== first)];
  throw new EncryptionKeyError(
    `credentials are stored under the encryption key ${current.fingerprint} by now, and ${givenText(keyring)}. Restart this process with that key.`,
  );
}

/**
 * Gives up a key that is lost for good. What was stored under it cannot be read any more: credentials of declared
 * gateways and webhooks are stored again from their Secrets, those of the management API must be entered again.
 *
 * @param key its fingerprint, or the known beginning of it
 * @returns number of credentials that are lost
 * @throws EncryptionKeyError if nothing is stored under it, or if a server still has it
 */
export async function forgetEncryptionKey(store: Store, key: string): Promise<number> {
  const current = await currentKey(store.db);
  const known = [current?.fingerprint, ...(await sealedUnder(store.db)).map(({ id }) => id)].filter(
    (id) => id !== undefined,
  );
  const short = key.slice(0, SHORT);
  if (short.length < SHORT || !known.some((id) => id.startsWith(short))) {
    throw new EncryptionKeyError(
      `nothing is stored under the encryption key ${key}; known are: ${known.join(", ") || "none"}`,
    );
  }
  const { result } = await change(store, null, async (tx) => {
    const { rows } = await sql<{ id: string }>`select id from replicas, unnest(encryption_keys) has
      where has like ${`${short}%`} and ${MAY_SERVE}`.execute(tx);
    if (rows[0] !== undefined) {
      throw new EncryptionKeyError(`the encryption key ${key} is not lost: the server ${rows[0].id} has it`);
    }
    await tx.deleteFrom("encryption_key").where("fingerprint", "like", `${short}%`).execute();
    let lost = 0n;
    for (const { table, column } of SEALED) {
      const { numAffectedRows = 0n } = await sql`update ${sql.table(table)} set ${sql.ref(column)} = null
        where ${isSealed(column)} and ${keyOf(column)} = ${short}`.execute(tx);
      lost += numAffectedRows;
    }
    return Number(lost);
  });
  return result;
}

/** Number of hexadecimal digits of a fingerprint that a sealed text holds. */
const SHORT = 8;

async function sealedUnder(db: Db): Promise<{ id: string; credentials: number }[]> {
  const texts = SEALED.map(
    ({ table, column }) => sql`select ${keyOf(column)} as id from ${sql.table(table)} where ${isSealed(column)}`,
  );
  const { rows } = await sql<{ id: string; credentials: number }>`
    select id, count(*) as credentials from (${sql.join(texts, sql` union all `)}) sealed
    group by id order by id`.execute(db);
  return rows;
}

const has = (keyring: Keyring, key: string): boolean => keyring.some(({ fingerprint }) => fingerprint.startsWith(key));

const givenText = (keyring: Keyring): string =>
  keyring.length === 0
    ? "no encryption key is given"
    : `the encryption keys that are given are ${keyring.map(({ fingerprint }) => fingerprint).join(", ")}`;

const nextStep = (key: string): string =>
  `Give that key: put its file back, or add its line to the keys. If it is lost for good: keyplane forget-encryption-key ${key}`;
