import { describe, expect, it } from "vitest";
import { ActionRefusedError, applyAction, withRotationRequest } from "../../../../domain/key/plan/apply-action.ts";
import type { StoredKey } from "../../../../domain/key/stored/stored-key.ts";
import { changed, NOW, stateOf } from "../../rule-table.ts";
import { type KeySituation, storedKey } from "../situations.ts";
import { WRITE_RULES, type Written } from "./apply-action.rows.ts";

describe.each(WRITE_RULES.tables)("$decision", ({ rows }) => {
  it.each(rows)("$rule", (row) => {
    const state = stateOf(WRITE_RULES, row);
    const { outcome } = row;
    if (typeof outcome === "object" && "refused" in outcome) {
      expect(() => apply(state)).toThrow(new ActionRefusedError(outcome.refused));
      return;
    }
    const after = apply(state);
    if (outcome === "no key") {
      expect(after).toBeUndefined();
      return;
    }
    const key = state.stored ?? state.taken;
    const before = situationOf(key && storedKey(key));
    expect(situationOf(after)).toMatchObject(outcome === "unchanged" ? before : changed(before, outcome));
  });
});

function apply({ stored, action, taken, ...context }: Written): StoredKey | undefined {
  const key = stored && storedKey(stored);
  if (action.do === "RequestRotation") return key && withRotationRequest(key, action.revokeOld, NOW);
  const identity = { cluster: "cluster", namespace: "ns", name: "key", ownerUid: "uid-1", teamId: "team-a" };
  return applyAction(key, action, {
    ...context,
    now: NOW,
    identity: { id: "key_2", ...identity },
    ...(taken && { taken: storedKey(taken) }),
  });
}

/** The key with its versions by their numbers. */
function situationOf(key: StoredKey | undefined): Partial<KeySituation> {
  return key === undefined
    ? {}
    : { ...key, versions: Object.fromEntries(key.versions.map((one) => [one.number, one])) };
}
