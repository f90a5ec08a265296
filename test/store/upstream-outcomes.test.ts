import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { saveGateway } from "../../store/gateways.ts";
import { parseKeyring } from "../../store/keyring.ts";
import { recordOutcomes, upstreamStates } from "../../store/upstream-outcomes.ts";
import { describeOnEachEngine } from "../env/database/engines.ts";
import { gatewayDraft, makeTeam, NOW, run } from "./fixtures.ts";

const NOTHING = { answeredAt: null, status: null, failedAt: null, failure: null };

describeOnEachEngine("how an upstream was last heard of", (store) => {
  let gatewayId: string;
  beforeAll(async () => {
    const upstreams = [{ name: "primary", dialect: "openai", baseUrl: "https://u.example", credential: null }] as const;
    const draft = gatewayDraft(await makeTeam(store()), { upstreams });
    const keyring = parseKeyring(randomBytes(32).toString("base64"));
    ({ gatewayId } = await run(store(), (tx) => saveGateway(tx, draft, keyring)));
  });

  async function state() {
    const [{ answeredAt, status, failedAt, failure } = NOTHING] = await upstreamStates(store().db, [gatewayId]);
    return { answeredAt, status, failedAt, failure };
  }
  test("is the latest that any replica tells, in whatever order they write, and nothing of no upstream", async () => {
    const of = { gatewayId, upstream: "primary" };
    expect(await state()).toEqual(NOTHING);
    const failed = { failedAt: NOW + 2, failure: "late" };
    await recordOutcomes(store().db, [{ ...of, ...NOTHING, answeredAt: NOW, status: 200 }]);
    await recordOutcomes(store().db, [{ ...of, ...NOTHING, ...failed }]);
    const latest = { answeredAt: NOW, status: 200, ...failed };
    expect(await state()).toEqual(latest);
    await recordOutcomes(store().db, [
      { ...of, answeredAt: NOW - 1, status: 500, failedAt: NOW + 1, failure: "early" },
      { gatewayId: "gw_none", upstream: "primary", ...NOTHING, failedAt: NOW, failure: "none" },
    ]);
    expect(await state()).toEqual(latest);
    await recordOutcomes(store().db, [{ ...of, ...NOTHING, answeredAt: NOW + 3, status: 429 }]);
    expect(await state()).toEqual({ ...latest, answeredAt: NOW + 3, status: 429 });
  });
});
