/** As whose a key's budgets are counted: the view of its record says so. */
import { expect, test } from "vitest";
import { readKeyBudgets } from "../../../store/budgets/read-budgets.ts";
import { updateKeyPolicy } from "../../../store/keys/lifecycle/policy-update.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { findKey } from "../../../store/keys/rows/find-key.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { makeTeam, policyOf, readSnapshot, reserveKey, run } from "../fixtures.ts";

const budgets = [{ tokens: 9_000, period: "Month", timeZone: "UTC", onExhausted: "Refuse" }] as const;

describeNightlyOnEachEngine("A key's budgets", (store) => {
  test("b130: are counted as the same owner's where it is deleted and declared again, with whatever it has then", async () => {
    const home = await makeTeam(store());
    const ownerOf = async (keyId: string) =>
      (await readSnapshot(store())).keys.find((key) => key.keyId === keyId)?.attributes.budgets;
    const first = await reserveKey(store(), home, { policy: policyOf({ budgets }) });
    const owned = await ownerOf(first.key.id);
    expect(owned).toEqual({
      ...{ owner: `${home.teamId} ${home.cluster}/${home.namespace}/${first.key.name}`, items: budgets },
    });
    await run(store(), (tx) => revokeKey(tx, first.key.id, "Deleted"));
    const lowered = [{ ...budgets[0], tokens: 10 }];
    const key = { name: first.key.name, ownerUid: "another" };
    const again = await reserveKey(store(), home, {
      digest: "a".repeat(32),
      policy: policyOf({ budgets: lowered }),
      key,
    });
    expect(again.key.id).not.toBe(first.key.id);
    expect(await ownerOf(again.key.id)).toEqual({ ...owned, items: lowered });
    const none = await reserveKey(store(), home);
    expect(await ownerOf(none.key.id)).toBeUndefined();
  });

  test("b130: are the changed ones where its declaration changes them, and no text of them", async () => {
    const home = await makeTeam(store());
    const { key } = await reserveKey(store(), home, { policy: policyOf({ budgets }) });
    const raised = [{ ...budgets[0], tokens: 90_000 }];
    const policy = policyOf({ budgets: raised });
    await run(store(), (tx) => updateKeyPolicy(tx, { keyId: key.id, policy, generation: 2, expiresAfter: null }));
    expect((await findKey(store().db, key.id))?.policy.budgets).toEqual(raised);
    expect(await readKeyBudgets(store().db, key.id, Date.now())).toMatchObject([{ budget: { tokens: 90_000 } }]);
  });
});
