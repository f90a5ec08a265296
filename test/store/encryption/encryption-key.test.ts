import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { EncryptionKeyError } from "../../../store/database/errors.ts";
import type { Store } from "../../../store/database/store.ts";
import {
  adoptFirstKey,
  assertKeyring,
  checkKeyring,
  forgetEncryptionKey,
  sealingKeyring,
} from "../../../store/encryption/encryption-key.ts";
import { isSealedByFirst, type Keyring, openSealed, parseKeyring } from "../../../store/encryption/keyring.ts";
import { readUpstreamCredential, saveGateway } from "../../../store/gateways/gateways.ts";
import { deregisterReplica, registerReplica } from "../../../store/replicas/replicas.ts";
import { saveTeam } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { gatewayDraft, makeTeam, run, teamDraft } from "../fixtures.ts";

const LINES = [0, 1, 2].map(() => randomBytes(32).toString("base64"));
const [A = "", B = "", C = ""] = LINES;
const keys = (...lines: string[]): Keyring => parseKeyring(lines.join("\n"));
const printOf = (line: string): string => parseKeyring(line)[0]?.fingerprint ?? "";

async function makeGateway(store: Store, keyring: Keyring, credential = "sk-provider") {
  const draft = gatewayDraft(await makeTeam(store), {
    upstreams: [{ name: "model", dialect: "openai", baseUrl: "https://provider.test", credential }],
  });
  const save = (ring: Keyring) => run(store, (tx) => saveGateway(tx, draft, ring));
  const { gatewayId } = await save(keyring);
  const sealed = async () => {
    const row = await store.db
      .selectFrom("gateway_upstreams")
      .select("credential")
      .where("gateway_id", "=", gatewayId)
      .executeTakeFirstOrThrow();
    return row.credential ?? Buffer.alloc(0);
  };
  const read = (ring: Keyring) => run(store, (tx) => readUpstreamCredential(tx, gatewayId, "model", ring));
  return { save, sealed, read };
}

describeNightlyOnEachEngine("c54: the encryption keys", (opened) => {
  test("of the process that starts first are those that all others must have, by their fingerprint", async () => {
    const { db } = opened();
    await assertKeyring(db, keys(A));
    await assertKeyring(db, keys(A));
    await assertKeyring(db, keys(B, A));
    for (const wrong of [keys(B), keys(B, C), []]) {
      const error = await assertKeyring(db, wrong).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(EncryptionKeyError);
      expect(String(error)).toContain(`stored under the encryption key ${printOf(A)}, since`);
      expect(String(error)).toContain(`keyplane forget-encryption-key ${printOf(A)}`);
      for (const line of LINES) expect(String(error)).not.toContain(line.slice(0, 10));
    }
    const { rows } = await sql<{ text: string }>`select encryption_key::text as text from encryption_key`.execute(db);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.text).not.toContain(Buffer.from(A, "base64").toString("hex").slice(0, 8));
  });

  test("take over no database of before that another key has sealed something in", async () => {
    const { db } = opened();
    await makeGateway(opened(), keys(A));
    await db.deleteFrom("encryption_key").execute();
    await expect(assertKeyring(db, keys(B))).rejects.toThrow(/1 credential is stored under the encryption key/);
    expect(await db.selectFrom("encryption_key").selectAll().execute()).toEqual([]);
    await assertKeyring(db, keys(A));
  });

  test("put one first only when every server has it; then all is sealed anew, and the old one may go", async () => {
    const store = opened();
    const gateway = await makeGateway(store, keys(A));
    await registerReplica(store, "old", { keyring: keys(A) });
    await registerReplica(store, "new", { keyring: keys(A, B) });
    await expect(adoptFirstKey(store, keys(B, A))).rejects.toThrow(
      `${printOf(B)}, is not given to 1 of the servers (old)`,
    );
    expect(isSealedByFirst(keys(A), await gateway.sealed())).toBe(true);
    await assertKeyring(store.db, keys(A));
    await deregisterReplica(store, "old");
    expect(await adoptFirstKey(store, keys(B, A))).toBeGreaterThan(0);
    expect(isSealedByFirst(keys(B), await gateway.sealed())).toBe(true);
    expect(await gateway.read(keys(B))).toBe("sk-provider");
    await assertKeyring(store.db, keys(B));
    await expect(assertKeyring(store.db, keys(A))).rejects.toThrow(EncryptionKeyError);
    expect(await adoptFirstKey(store, keys(B))).toBe(0);
  });

  test("count as those of a server too that has been silent for a part of its long lease", async () => {
    const store = opened();
    await makeGateway(store, keys(B));
    await registerReplica(store, "patient", { keyring: keys(B), leaseMs: 60_000 });
    const silentFor = (seconds: number) =>
      sql`update replicas set seen_at = clock_timestamp() - make_interval(secs => ${seconds})`.execute(store.db);
    await silentFor(40);
    await expect(adoptFirstKey(store, keys(C, B))).rejects.toThrow(/is not given to 1 of the servers \(patient\)/);
    await expect(forgetEncryptionKey(store, printOf(B))).rejects.toThrow(/is not lost: the server patient has it/);
    await silentFor(70);
    expect(await adoptFirstKey(store, keys(C, B))).toBeGreaterThan(0);
    expect(await adoptFirstKey(store, keys(B, C))).toBeGreaterThan(0);
    await deregisterReplica(store, "patient");
  });

  test("seal nothing under another key than the database's, by those who started before it took its place", async () => {
    const store = opened();
    const both = await makeGateway(store, keys(A, B));
    expect(isSealedByFirst(keys(B), await both.sealed())).toBe(true);
    await both.save(keys(A, B));
    expect(isSealedByFirst(keys(B), await both.sealed())).toBe(true);
    await expect(makeGateway(store, keys(A))).rejects.toThrow(/by now.*Restart this process/);
    await run(store, async (tx) => expect((await sealingKeyring(tx, keys(A, B)))[0]).toEqual(keys(B)[0]));
  });

  test("are given up by their name once they are lost for good, and only where no server has them", async () => {
    const store = opened();
    const gateway = await makeGateway(store, keys(B));
    await expect(forgetEncryptionKey(store, printOf(C))).rejects.toThrow(/nothing is stored under/);
    await expect(forgetEncryptionKey(store, "")).rejects.toThrow(/nothing is stored under/);
    await registerReplica(store, "new", { keyring: keys(B) });
    await expect(forgetEncryptionKey(store, printOf(B))).rejects.toThrow(/is not lost: the server new has it/);
    await deregisterReplica(store, "new");
    expect(await forgetEncryptionKey(store, printOf(B))).toBeGreaterThan(0);
    await checkKeyring(store.db, keys(C));
    await adoptFirstKey(store, keys(C));
    expect(await gateway.read(keys(B, C))).toBeNull();
    expect(await gateway.sealed()).toHaveLength(0);
    await gateway.save(keys(C));
    expect(await gateway.read(keys(C))).toBe("sk-provider");
  });

  test("seal the signing secrets of webhooks as they do credentials: anew, or lost and given again", async () => {
    const store = opened();
    const draft = teamDraft({
      webhooks: [{ url: "https://hooks.test/a", events: ["key.revoked"], secret: "whsec_a" }],
    });
    const save = (ring: Keyring) => run(store, (tx) => saveTeam(tx, draft, ring));
    const { teamId } = await save(keys(C));
    const sealed = () =>
      store.db
        .selectFrom("team_webhooks")
        .select(["id", "secret"])
        .where("team_id", "=", teamId)
        .executeTakeFirstOrThrow();
    const before = await sealed();
    await save(keys(C));
    expect(await sealed()).toEqual(before);
    expect(await adoptFirstKey(store, keys(B, C))).toBeGreaterThan(0);
    const { id, secret } = await sealed();
    expect(openSealed(keys(B), secret ?? Buffer.alloc(0), id)).toBe("whsec_a");
    await expect(checkKeyring(store.db, keys(C))).rejects.toThrow(EncryptionKeyError);
    expect(await forgetEncryptionKey(store, printOf(B))).toBeGreaterThan(0);
    await adoptFirstKey(store, keys(C));
    expect(openSealed(keys(B, C), (await sealed()).secret ?? Buffer.alloc(0), id)).toBeNull();
    await save(keys(C));
    expect(openSealed(keys(C), (await sealed()).secret ?? Buffer.alloc(0), id)).toBe("whsec_a");
  });
});
