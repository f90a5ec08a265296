import fc from "fast-check";
import { expect, test } from "vitest";
import type { Tx } from "../../../../store/database/change.ts";
import { StoreError } from "../../../../store/database/errors.ts";
import type { Store } from "../../../../store/database/store.ts";
import { changesAfter } from "../../../../store/feed/change-feed.ts";
import { type Reservation, reserveVersion } from "../../../../store/keys/lifecycle/key-reservations.ts";
import {
  activateVersion,
  endRetiring,
  markMayBeRead,
  retireVersions,
} from "../../../../store/keys/lifecycle/key-versions.ts";
import { updateKeyPolicy } from "../../../../store/keys/lifecycle/policy-update.ts";
import { releaseKey } from "../../../../store/keys/lifecycle/release.ts";
import { revokeKey } from "../../../../store/keys/lifecycle/revocation.ts";
import { requestRotation } from "../../../../store/keys/lifecycle/rotation-request.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { examples } from "../../../env/nightly.ts";
import { HOUR, makeTeam, NOW, nextVersion, policyOf, reserveKey, run } from "../../fixtures.ts";
import { feedHead } from "../../questions.ts";

/** One call, of a controller, a person or a controller that comes back from long ago. */
type Step =
  | {
      readonly call: "reserve" | "mark" | "activate" | "endRetiring";
      readonly number: number;
      readonly overlap: number;
    }
  | { readonly call: "revoke" | "release" | "rotate" | "retire" | "policy"; readonly hours: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    call: fc.constantFrom(
      ...["reserve" as const, "mark" as const, "activate" as const, "activate" as const, "endRetiring" as const],
    ),
    number: fc.integer({ min: 1, max: 7 }),
    overlap: fc.constantFrom(-1, 0, 1, 5),
  }),
  fc.record({
    call: fc.constantFrom("retire" as const, "rotate" as const, "policy" as const, "release" as const),
    hours: fc.integer({ min: 0, max: 6 }),
  }),
  { weight: 1, arbitrary: fc.constant({ call: "revoke" as const, hours: 0 }) },
);

describeNightlyOnEachEngine("Whatever the order of calls", (store) => {
  test("I1 I5: a key has one active version at most, four retiring ones at most, and no end is undone", async () => {
    const home = await makeTeam(store());
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 30 }), async (steps) => {
        const first = await reserveKey(store(), home);
        const keyId = first.key.id;
        let before = await statesOf(store(), keyId);
        for (const [index, one] of steps.entries()) {
          const head = await feedHead(store());
          const at = NOW + ("hours" in one ? one.hours : 0) * HOUR;
          await run(store(), (tx) => take(tx, one, first, index), at).catch((error: unknown) => {
            if (!(error instanceof StoreError)) throw error;
          });
          const after = await statesOf(store(), keyId);
          holdsInvariants(before, after);
          await isOnFeed(store(), head, before, after);
          before = after;
        }
      }),
      { numRuns: examples(15) },
    );
  });
});

/** Takes a step with a key, that of `first`; as a change of its declaration it has this generation. */
function take(tx: Tx, step: Step, first: Reservation, generation: number): Promise<unknown> {
  const keyId = first.key.id;
  switch (step.call) {
    case "reserve":
      return reserveVersion(tx, nextVersion(first, step.number));
    case "mark":
      return markMayBeRead(tx, keyId, step.number);
    case "activate":
      return activateVersion(tx, { keyId, number: step.number, overlapMs: step.overlap * HOUR });
    case "endRetiring":
      return endRetiring(tx, keyId, step.number);
    case "revoke":
      return revokeKey(tx, keyId, "ByHand");
    case "release":
      return releaseKey(tx, keyId);
    case "rotate":
      return requestRotation(tx, keyId, true);
    case "retire":
      return retireVersions(tx, keyId);
    case "policy":
      return updateKeyPolicy(tx, { keyId, policy: policyOf(), generation, expiresAfter: null });
  }
}

type States = { readonly key: string; readonly versions: ReadonlyMap<number, string> };

async function statesOf(store: Store, keyId: string): Promise<States> {
  const { state } = await store.db.selectFrom("keys").select("state").where("id", "=", keyId).executeTakeFirstOrThrow();
  const rows = await store.db
    .selectFrom("key_versions")
    .select(["number", "state"])
    .where("key_id", "=", keyId)
    .execute();
  return { key: state, versions: new Map(rows.map((row) => [row.number, row.state])) };
}

function holdsInvariants(before: States, after: States): void {
  const count = (state: string) => [...after.versions.values()].filter((other) => other === state).length;
  expect(count("active")).toBeLessThanOrEqual(1);
  expect(count("retiring")).toBeLessThanOrEqual(4);
  if (before.key === "revoked") expect(after).toEqual(before);
  if (after.key === "revoked") expect(count("active") + count("retiring") + count("reserved")).toBe(0);
  for (const [number, state] of before.versions) {
    if (["retired", "voided", "revoked"].includes(state)) expect(after.versions.get(number)).toBe(state);
    if (state === "active") expect(after.versions.get(number)).not.toBe("reserved");
  }
}

/** A replica that follows the feed learns of every version whose state changed, and of its state. */
async function isOnFeed(store: Store, head: number, before: States, after: States): Promise<void> {
  const onFeed = new Map(
    (await changesAfter(store, head, 10)).keys.map(({ version, attributes }) => [version, attributes.versionState]),
  );
  for (const [number, state] of after.versions) {
    if (before.versions.get(number) !== state) expect(onFeed.get(number)).toBe(state);
  }
}
