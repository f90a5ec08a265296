/** Keys that are revoked, or change what they may do, at once: who shares whose failure. */
import { expect, test } from "vitest";
import { createKeyChanges } from "../../../controller/key/key-changes.ts";
import { takeLeadership } from "../../../store/database/change.ts";
import { StaleDeclarationError, StaleLeaderError } from "../../../store/database/errors.ts";
import type { Store } from "../../../store/database/store.ts";
import { findKey } from "../../../store/keys/rows/find-key.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { makeTeam, policyOf, reserveKey, unique } from "../../store/fixtures.ts";

describeOnEitherEngine("Changes of keys that come at once", (store) => {
  test("c71: a declaration that is out of date fails alone: the keys beside it are revoked and suspended", async () => {
    const home = await makeTeam(store(), { cluster: unique("cluster") });
    const fence = await takeLeadership(store(), home.cluster);
    const [revoked = "", outdated = "", suspended = ""] = await Promise.all(
      Array.from({ length: 3 }, async () => (await reserveKey(store(), home)).key.id),
    );
    const changes = createKeyChanges(store(), fence);
    const policy = policyOf({ suspended: true });
    const suspension = (keyId: string, generation: number) =>
      changes.updatePolicy({ keyId, policy, generation, expiresAfter: null });
    await suspension(outdated, 7);
    const results = await Promise.allSettled([
      changes.revoke(revoked, "Deleted"),
      suspension(outdated, 6),
      suspension(suspended, 7),
    ]);
    expect(results.map((one) => (one.status === "fulfilled" ? "done" : one.reason))).toEqual([
      "done",
      expect.any(StaleDeclarationError),
      "done",
    ]);
    const states = await Promise.all(
      [revoked, outdated, suspended].map(async (id) => (await findKey(store().db, id))?.state),
    );
    expect(states).toEqual(["revoked", "suspended", "suspended"]);
  });

  test("c71: of a leader that is deposed all fail by one transaction", async () => {
    const home = await makeTeam(store(), { cluster: unique("cluster") });
    const deposed = await takeLeadership(store(), home.cluster);
    const ids = await Promise.all(Array.from({ length: 8 }, async () => (await reserveKey(store(), home)).key.id));
    await takeLeadership(store(), home.cluster);
    const { counted, begun } = countTransactions(store());
    const changes = createKeyChanges(counted, deposed);
    const results = await Promise.allSettled(ids.map((id) => changes.revoke(id, "Deleted")));
    expect(results.map((one) => one.status === "rejected" && one.reason instanceof StaleLeaderError)).toEqual(
      ids.map(() => true),
    );
    expect(begun()).toBe(1);
  });
});

/** A store that counts the transactions which are begun through it. */
function countTransactions(store: Store): { counted: Store; begun: () => number } {
  let count = 0;
  const db = new Proxy(store.db, {
    get(target, name) {
      if (name === "transaction") count++;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return { counted: { ...store, db }, begun: () => count };
}
