import { expect, test } from "vitest";
import { heldByPolicies } from "../../../../domain/key/issuance/policy-violated.ts";
import { NO_VERDICT } from "../../../../domain/key/policies/hold-to-policies.ts";
import { AT_REST_SITUATION, observedKey } from "../situations.ts";

const WHY = "spec.scopes: memory:write may not be given.";
const UNROTATED = "No interval rotates it meanwhile";

test.for([
  [{}, undefined, ""],
  [{ notApplied: [WHY] }, "PolicyViolated", `the key goes on as it was. ${WHY}`],
  [{ notApplied: [WHY], isRotationUnknown: true }, "PolicyViolated", `the key goes on as it was. ${UNROTATED}`],
  [{ unreadable: ["uid-of-one"] }, "PolicyUnreadable", "Meanwhile the key goes on as it was."],
  [{ unreadable: ["uid-of-one"], isRotationUnknown: true }, "PolicyUnreadable", `as it was. ${UNROTATED}`],
] as const)("why a declaration is not applied, and what of the key waits with it: %o", ([verdict, reason, says]) => {
  const held = heldByPolicies(observedKey({ ...AT_REST_SITUATION, verdict: { ...NO_VERDICT, ...verdict } }));
  expect(held?.[0]).toBe(reason);
  expect(held?.[1] ?? "").toContain(says);
});
