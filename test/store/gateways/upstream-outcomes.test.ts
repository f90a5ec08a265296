import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { beforeAll, expect, test } from "vitest";
import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import { change } from "../../../store/database/change.ts";
import { databaseTime } from "../../../store/database/times.ts";
import { parseKeyring } from "../../../store/encryption/keyring.ts";
import { saveGateway } from "../../../store/gateways/gateways.ts";
import { recordOutcomes, refusedCredentials, upstreamStates } from "../../../store/gateways/upstream-outcomes.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { gatewayDraft, makeTeam, NOW, run } from "../fixtures.ts";

const [MINUTE, HOUR] = [60_000, 3_600_000];
const keyring = parseKeyring(randomBytes(32).toString("base64"));
const upstreamWith = (credential: string | null): UpstreamRecord => ({
  ...{ name: "primary", dialect: "openai", baseUrl: "https://u.example", credential },
});
const NOTHING = { answeredAt: null, status: null, failedAt: null, failure: null, acceptedAt: null, refusedAt: null };

describeNightlyOnEachEngine("how an upstream was last heard of", (store) => {
  let gatewayId: string;
  beforeAll(async () => {
    const draft = gatewayDraft(await makeTeam(store()), { upstreams: [upstreamWith(null)] });
    ({ gatewayId } = await run(store(), (tx) => saveGateway(tx, draft, keyring)));
  });

  async function state() {
    const [state = NOTHING] = await upstreamStates(store().db, [gatewayId]);
    const { answeredAt, status, failedAt, failure, acceptedAt, refusedAt } = state;
    return { answeredAt, status, failedAt, failure, acceptedAt, refusedAt };
  }
  test("is the latest that any replica reports, in whatever order they write, and nothing of no upstream", async () => {
    const of = { gatewayId, upstream: "primary" };
    expect(await state()).toEqual(NOTHING);
    const failed = { failedAt: NOW + 2, failure: "late" };
    await recordOutcomes(store().db, [{ ...of, ...NOTHING, answeredAt: NOW, status: 200 }]);
    await recordOutcomes(store().db, [{ ...of, ...NOTHING, ...failed }]);
    const latest = { ...NOTHING, answeredAt: NOW, status: 200, ...failed };
    expect(await state()).toEqual(latest);
    await recordOutcomes(store().db, [
      { ...of, ...NOTHING, answeredAt: NOW - 1, status: 500, failedAt: NOW + 1, failure: "early" },
      { gatewayId: "gw_none", upstream: "primary", ...NOTHING, failedAt: NOW, failure: "none" },
    ]);
    expect(await state()).toEqual(latest);
    await recordOutcomes(store().db, [{ ...of, ...NOTHING, answeredAt: NOW + 3, status: 429 }]);
    expect(await state()).toEqual({ ...latest, answeredAt: NOW + 3, status: 429 });
  });

  test("says whether its credential is refused: since it was stored, with no success since or within a minute", async () => {
    const at = await databaseTime(store().db);
    const made = gatewayDraft(await makeTeam(store()), { upstreams: [upstreamWith("sk-1")] });
    const { gatewayId: id } = await run(store(), (tx) => saveGateway(tx, made, keyring));
    await sql`update gateway_upstreams set credential_at = ${new Date(at - HOUR)} where gateway_id = ${id}`.execute(
      store().db,
    );
    const record = (outcome: object) =>
      recordOutcomes(store().db, [{ gatewayId: id, upstream: "primary", ...NOTHING, ...outcome }]);
    const isRefused = async () => {
      const [stated] = await upstreamStates(store().db, [id]);
      const listed = (await refusedCredentials(store().db, made.cluster)).filter(({ gatewayId }) => gatewayId === id);
      expect(listed.length > 0, "both questions have one answer").toBe(stated?.refusesCredential);
      return stated?.refusesCredential;
    };
    expect(await isRefused()).toBe(false);
    await record({ refusedAt: at - 2 * HOUR });
    expect(await isRefused(), "it was another credential").toBe(false);
    await record({ refusedAt: at - 10 * MINUTE });
    expect(await isRefused()).toBe(true);
    await record({ answeredAt: at - 9 * MINUTE, status: 500 });
    expect(await isRefused(), "an error says nothing of it").toBe(true);
    await record({ acceptedAt: at - 8 * MINUTE });
    expect(await isRefused()).toBe(false);
    await record({ refusedAt: at - 11 * MINUTE });
    expect(await isRefused(), "another replica reports late").toBe(false);
    await record({ refusedAt: at - 10 });
    await record({ acceptedAt: at });
    expect(await isRefused(), "some calls are taken, and some refused").toBe(true);
    await change(store(), null, (tx) => saveGateway(tx, { ...made, upstreams: [upstreamWith("sk-2")] }, keyring));
    expect(await isRefused(), "the next credential").toBe(false);
  });
});
