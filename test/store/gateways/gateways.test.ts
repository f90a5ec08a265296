import { sql } from "kysely";
import { expect, test } from "vitest";
import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import { KeyringError, PublicIdTakenError } from "../../../store/database/errors.ts";
import { type Keyring, parseKeyring } from "../../../store/encryption/keyring.ts";
import {
  findPublicIdOfPlace,
  type GatewayDraft,
  openGateway,
  readUpstreamCredential,
  releaseGateway,
  saveGateway,
} from "../../../store/gateways/gateways.ts";
import { findActiveObject, listObjects } from "../../../store/objects/objects.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../env/database/engines.ts";
import { gatewayDraft, type Home, makeTeam, readSnapshot, run, unique } from "../fixtures.ts";

const line = (byte: number) => Buffer.alloc(32, byte).toString("base64");
const keyring = parseKeyring(line(1));
const upstream: UpstreamRecord = {
  name: "openai",
  dialect: "openai",
  baseUrl: "https://api.example",
  credential: "sk-canary-4711",
};

const draftOf = (home: Home, overrides: Partial<GatewayDraft> = {}) =>
  gatewayDraft(home, { upstreams: [upstream], ...overrides });

describeNightlyOnEachEngine("A gateway", (store) => {
  const fail = (error: KeyringError) => {
    throw error;
  };
  const save = (draft: GatewayDraft, keys: Keyring = keyring) => run(store(), (tx) => saveGateway(tx, draft, keys));
  const release = (draft: GatewayDraft) => run(store(), (tx) => releaseGateway(tx, draft.cluster, draft.ownerUid));
  const sealed = async (gatewayId: string) => {
    const gateway = (await readSnapshot(store())).gateways.find((one) => one.gatewayId === gatewayId);
    if (gateway === undefined) throw new Error("not served");
    return gateway;
  };
  const credentialRow = async (gatewayId: string) =>
    (
      await store()
        .db.selectFrom("gateway_upstreams")
        .select("credential")
        .where("gateway_id", "=", gatewayId)
        .executeTakeFirst()
    )?.credential;

  test("is served as declared, its credential in clear to the server alone", async () => {
    const draft = draftOf(await makeTeam(store()));
    const { gatewayId } = await save(draft);
    expect(openGateway(await sealed(gatewayId), keyring, fail)).toEqual({
      gatewayId,
      publicId: draft.publicId,
      teamId: draft.teamId,
      teamHoldsNamespace: true,
      routesOnly: false,
      operations: ["generate", "embed", "models"],
      upstreams: [upstream],
      routes: [],
    });
    const stored = Buffer.from((await credentialRow(gatewayId)) ?? []).toString("latin1");
    expect(stored).not.toContain("canary");
    expect(await findActiveObject(store().db, "gateway", draft)).toEqual({ id: gatewayId });
    const other = await makeTeam(store());
    expect(await findActiveObject(store().db, "gateway", { ...draft, teamId: other.teamId })).toBeUndefined();
  });

  test("a change takes effect and leaves out what is no longer declared", async () => {
    const draft = draftOf(await makeTeam(store()));
    const { gatewayId } = await save(draft);
    const changed: UpstreamRecord[] = [
      { ...upstream, name: "second", credential: null },
      { ...upstream, name: "first", dialect: "gemini", credential: "other" },
    ];
    expect(await save({ ...draft, routesOnly: true, operations: ["images"], upstreams: changed })).toEqual({
      gatewayId,
    });
    expect(openGateway(await sealed(gatewayId), keyring, fail)).toMatchObject({
      ...{ routesOnly: true, operations: ["images"], upstreams: changed },
    });
    await save({ ...draft, upstreams: [...changed].reverse() });
    expect(openGateway(await sealed(gatewayId), keyring, fail).upstreams).toEqual([...changed].reverse());
    await save({ ...draft, upstreams: [] });
    expect((await sealed(gatewayId)).upstreams).toEqual([]);
  });

  test("b393: an upstream that is declared without a credential is another than one whose credential is missing", async () => {
    const draft = draftOf(await makeTeam(store()));
    const { gatewayId } = await save(draft);
    const columns = ["credential", "credential_at", "takes_credential"] as const;
    const row = () =>
      store().db.selectFrom("gateway_upstreams").select(columns).where("gateway_id", "=", gatewayId).executeTakeFirst();
    const forms: UpstreamRecord["credential"][] = [false, null, false, "sk-next", false, upstream.credential];
    for (const credential of forms) {
      await store().db.updateTable("gateway_upstreams").set({ credential_at: null }).execute();
      await save({ ...draft, upstreams: [{ ...upstream, credential }] });
      expect(openGateway(await sealed(gatewayId), keyring, fail).upstreams).toEqual([{ ...upstream, credential }]);
      expect((await row())?.credential_at).not.toBeNull();
    }
    await save({ ...draft, upstreams: [{ ...upstream, credential: false }] });
    expect(await row()).toMatchObject({ credential: null, takes_credential: false });
    const { upstreams, credentials } = (await listObjects(store().db, "gateway", { id: gatewayId, limit: 1 }))[0] ?? {};
    expect(upstreams).toMatchObject([{ takesCredential: false, hasCredential: false }]);
    expect(credentials).toBeDefined();
    const { rows } = await sql<{ changed: string[] }>`select detail->'changedCredentials' as changed from audit_events
      where kind = 'gateway.changed' and detail->>'id' = ${gatewayId}`.execute(store().db);
    expect(rows.map(({ changed }) => changed)).toEqual(Array.from({ length: 7 }, () => ["openai"]));
  });

  test("b393: a credential that an older controller wrote goes along, though it left the mark of none", async () => {
    const draft = draftOf(await makeTeam(store()));
    const { gatewayId } = await save(draft);
    await store().db.updateTable("gateway_upstreams").set({ takes_credential: false }).execute();
    expect(openGateway(await sealed(gatewayId), keyring, fail).upstreams).toEqual([upstream]);
    const kept = await run(store(), (tx) => readUpstreamCredential(tx, gatewayId, upstream.name, keyring));
    expect(kept).toBe(upstream.credential);
    const [shown] = await listObjects(store().db, "gateway", { id: gatewayId, limit: 1 });
    expect(shown?.upstreams).toMatchObject([{ takesCredential: true, hasCredential: true }]);
  });

  test("b73: a public id is one gateway's: another claimant is refused and changes nothing", async () => {
    const draft = draftOf(await makeTeam(store()));
    const { gatewayId } = await save(draft);
    const before = await sealed(gatewayId);
    const sameTeam = draftOf(draft, { publicId: draft.publicId });
    const otherTeam = draftOf(await makeTeam(store()), { publicId: draft.publicId });
    const otherCluster = draftOf(await makeTeam(store(), { cluster: "c2" }), {
      publicId: draft.publicId,
      ownerUid: draft.ownerUid,
    });
    for (const claimant of [sameTeam, otherTeam, otherCluster]) {
      await expect(save(claimant)).rejects.toThrow(PublicIdTakenError);
    }
    expect(await sealed(gatewayId)).toEqual(before);
  });

  test("whose declaration gets another public id, as in another team, is served there alone", async () => {
    const draft = draftOf(await makeTeam(store()));
    const { gatewayId } = await save(draft);
    const moved = { ...draft, teamId: (await makeTeam(store())).teamId, publicId: unique("public") };
    const { gatewayId: there } = await save(moved);
    expect(await sealed(there)).toMatchObject({ publicId: moved.publicId, teamId: moved.teamId });
    await expect(sealed(gatewayId)).rejects.toThrow("not served");
    expect(await credentialRow(gatewayId)).toBeUndefined();
    expect(await save(draft)).toEqual({ gatewayId });
    expect(await sealed(gatewayId)).toMatchObject({ publicId: draft.publicId, teamId: draft.teamId });
  });

  test("b73: after a deletion the public id stays its team's, and its credentials are gone", async () => {
    const draft = draftOf(await makeTeam(store()));
    const { gatewayId } = await save(draft);
    await release(draft);
    await release(draft);
    expect(await credentialRow(gatewayId)).toBeUndefined();
    await expect(sealed(gatewayId)).rejects.toThrow("not served");
    expect(await findActiveObject(store().db, "gateway", draft)).toBeUndefined();
    const stranger = draftOf(await makeTeam(store()), { publicId: draft.publicId });
    await expect(save(stranger)).rejects.toThrow(PublicIdTakenError);
    const heir = draftOf(draft, { publicId: draft.publicId });
    expect(await save(heir)).toEqual({ gatewayId });
    await release(draft);
    expect((await sealed(gatewayId)).publicId).toBe(draft.publicId);
  });

  test("b73: a namespace that another team gets does not bring a gateway's public id with it", async () => {
    const draft = draftOf(await makeTeam(store()));
    await save(draft);
    const other = await makeTeam(store());
    await expect(save({ ...draft, teamId: other.teamId })).rejects.toThrow(PublicIdTakenError);
  });

  test("c122: that its cluster restores with a new uid stays the same, also where the one before is deleted late, and has one public id", async () => {
    const draft = draftOf(await makeTeam(store()));
    const { gatewayId } = await save(draft);
    const restored = { ...draft, ownerUid: unique("uid") };
    expect(await save(restored)).toEqual({ gatewayId });
    await release(draft);
    expect(openGateway(await sealed(gatewayId), keyring, fail).upstreams).toEqual([upstream]);
    const { gatewayId: other } = await save({ ...draft, ownerUid: unique("uid"), publicId: unique("public") });
    expect(await findActiveObject(store().db, "gateway", draft)).toEqual({ id: other });
    await expect(sealed(gatewayId)).rejects.toThrow("not served");
    await save(draft);
    expect(await findPublicIdOfPlace(store().db, draft), "the one in service").toBe(draft.publicId);
  });

  test("b21: with two encryption keys both decrypt, and what is saved again is under the first", async () => {
    const draft = draftOf(await makeTeam(store()));
    const { gatewayId } = await save(draft);
    const old = await credentialRow(gatewayId);
    const rotated = parseKeyring(`${line(2)}\n${line(1)}\n`);
    expect(openGateway(await sealed(gatewayId), rotated, fail).upstreams).toEqual([upstream]);
    await save(draft, rotated);
    expect(await credentialRow(gatewayId)).not.toEqual(old);
    const after = await sealed(gatewayId);
    expect(openGateway(after, parseKeyring(line(2)), fail).upstreams).toEqual([upstream]);
    expect(() => openGateway(after, keyring, fail)).toThrow(KeyringError);
    await save(draft, parseKeyring(line(3)));
    expect(openGateway(await sealed(gatewayId), parseKeyring(line(3)), fail).upstreams).toEqual([upstream]);
  });

  test("saved again unchanged it is not written: the credential keeps its ciphertext", async () => {
    const draft = draftOf(await makeTeam(store()));
    const { gatewayId } = await save(draft);
    const before = await credentialRow(gatewayId);
    await save(draft);
    expect(await credentialRow(gatewayId)).toEqual(before);
  });
});

describeOnPostgres("Two gateways at once", (store) => {
  test("b73: that claim one public id: one has it, the other is refused", async () => {
    const homes = await Promise.all([makeTeam(store()), makeTeam(store())]);
    for (let round = 0; round < 10; round++) {
      const publicId = unique("public");
      const outcomes = await Promise.allSettled(
        homes.map((home) => run(store(), (tx) => saveGateway(tx, draftOf(home, { publicId }), keyring))),
      );
      const refused = outcomes.filter((outcome) => outcome.status === "rejected");
      expect(refused).toHaveLength(1);
      expect(refused[0]?.reason).toBeInstanceOf(PublicIdTakenError);
    }
  });
});
