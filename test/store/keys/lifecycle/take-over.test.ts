import { expect, test } from "vitest";
import { API_CLUSTER } from "../../../../domain/api-cluster.ts";
import { periodAt } from "../../../../domain/budget/period.ts";
import type { KeyPolicy } from "../../../../domain/key/declaration/key-policy.ts";
import { applyAction } from "../../../../domain/key/plan/apply-action.ts";
import { type LedgerLine, writeLedger } from "../../../../store/budgets/budget-ledger.ts";
import { budgetsOfKey, readKeyBudgets } from "../../../../store/budgets/read-budgets.ts";
import { change } from "../../../../store/database/change.ts";
import { TakeOverRefusedError } from "../../../../store/database/errors.ts";
import { newId } from "../../../../store/database/ids.ts";
import type { Store } from "../../../../store/database/store.ts";
import { isPrefixTaken } from "../../../../store/keys/lifecycle/key-prefixes.ts";
import { reserveVersion } from "../../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../../../store/keys/lifecycle/key-versions.ts";
import { type TakeOver, takeOverKey } from "../../../../store/keys/lifecycle/take-over.ts";
import { findKey } from "../../../../store/keys/rows/find-key.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { digestOf, makeTeam, NOW, policyOf, unique } from "../../fixtures.ts";

describeNightlyOnEachEngine("A take-over", (store) => {
  test("stores what applyAction says, with every version that the key has", async () => {
    const { keyId, takeOver, secret } = await madeByHand(store());
    const taken = (await findKey(store().db, keyId)) ?? expect.fail("it was made");
    await change(store(), null, (tx) => takeOverKey(tx, takeOver));
    const { owner, request } = takeOver;
    const applied = applyAction(
      undefined,
      { do: "TakeOver", keyId },
      {
        ...{ now: NOW, generation: owner.generation, undoneSince: null, secret, taken },
        declared: { source: { type: "ImportHash" }, expiresAfter: null, rotationTrigger: owner.rotationTrigger },
        identity: { ...owner, id: keyId, teamId: request.teamId ?? "" },
      },
    );
    expect(await findKey(store().db, keyId)).toEqual({ ...applied, spec: null, teamHoldsNamespace: true });
  });

  test("b90: by two at once is the first one's", async () => {
    const { keyId, takeOver } = await madeByHand(store());
    const owners = ["first", "second"].map((name) => ({ ...takeOver.owner, name, ownerUid: unique(name) }));
    const outcomes = await Promise.allSettled(
      owners.map((owner) => change(store(), null, (tx) => takeOverKey(tx, { ...takeOver, owner }))),
    );
    const won = outcomes.findIndex(({ status }) => status === "fulfilled");
    const lost = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
    expect(lost).toEqual([expect.any(TakeOverRefusedError)]);
    expect(await findKey(store().db, keyId)).toMatchObject({ ownerUid: owners[won]?.ownerUid });
  });

  test("b90: leaves the prefix the key's own: an imported text that begins alike is refused as before", async () => {
    const { takeOver, secret } = await madeByHand(store());
    const asked = {
      prefix: secret.prefix,
      digest: digestOf(unique("other")),
      source: "ImportSecret",
      keyId: null,
    } as const;
    expect(await isPrefixTaken(store().db, asked)).toBe(true);
    await change(store(), null, (tx) => takeOverKey(tx, takeOver));
    expect(await isPrefixTaken(store().db, asked)).toBe(true);
  });

  test("b433: gives a key no second budget: what it has used and holds under its old name counts under the new one", async () => {
    const of = { tokens: 10_000, timeZone: "UTC", onExhausted: "Refuse" } as const;
    const budgets = [{ ...of, period: "Total" } as const, { ...of, period: "Month" } as const];
    const { keyId, takeOver } = await madeByHand(store(), { budgets });
    const lines = (await budgetsOfKey(store().db, keyId)).map(({ id, period }): LedgerLine => {
      const { name, endsAt } = periodAt(period, "UTC", NOW);
      return { budget: id, period: name, endsAt, revision: 7, spent: 4_000, held: 500, wanted: 0, most: 10_000 };
    });
    for (const thread of ["one", "other"]) await writeLedger(store().db, thread, lines);
    await change(store(), null, (tx) => takeOverKey(tx, takeOver));
    const used = { spent: 8_000, held: 1_000, reached: 80 };
    expect(await readKeyBudgets(store().db, keyId, NOW)).toMatchObject([used, used]);
  });
});

/** A key of two versions, as the management API makes them, and a declaration that wants it. */
async function madeByHand(store: Store, policy: Partial<KeyPolicy> = {}) {
  const { cluster, namespace, teamId } = await makeTeam(store);
  const keyId = newId("key");
  const key = {
    ...{ id: keyId, cluster: API_CLUSTER, namespace: "", name: unique("by-hand"), ownerUid: null, teamId },
    ...({ source: "Generate", generation: 3, spec: { preset: "MCPReadOnly", state: "Active" } } as const),
  };
  const versions = [1, 2].map((number) => ({
    ...{ number, digest: digestOf(`${keyId}/${number}`), prefix: unique(`inf_${number}`).slice(-8).padStart(12, "x") },
  }));
  for (const version of versions) {
    await change(store, null, async (tx) => {
      await reserveVersion(tx, {
        key,
        policy: policyOf(policy),
        ...version,
        expiresAfter: null,
        rotationTrigger: null,
      });
      await activateVersion(tx, { keyId, number: version.number, overlapMs: 3_600_000 });
    });
  }
  const secret = versions[1] ?? expect.fail("there are two");
  const hash = { sha256: Buffer.from(secret.digest, "latin1").toString("hex"), prefix: secret.prefix };
  const takeOver: TakeOver = {
    request: { keyId, hash, teamId },
    owner: {
      ...{ cluster, namespace, name: "agent", ownerUid: unique("uid"), source: "ImportHash" },
      ...{ generation: 1, rotationTrigger: "first" },
    },
  };
  return { keyId, takeOver, secret };
}
