import { expect, test } from "vitest";
import { teamPolicy } from "../../../controller/policy/team-policies.ts";
import { rulesInForce } from "../../../domain/key/policies/rules-in-force.ts";

const RULES = "2026-11-01T00:00:00Z";
const TEAM = "2026-11-02T00:00:00Z";
const SPEC = { teamSelector: {}, gracePeriod: "168h", allowedModels: ["a"], maxKeys: 3 };
const STATUS = {
  observedGeneration: 1,
  conditions: [],
  teams: [{ name: "team", since: TEAM }],
  rules: rulesInForce(SPEC, [], RULES),
};

/** Since when each rule of an edited policy is known to hold. */
const sinceOf = (spec: object, team = "team") =>
  teamPolicy({ name: "one", spec: { ...SPEC, ...spec }, status: STATUS }, team).since;

test("b126: until a policy's edit is in its status, the rules that it leaves keep their time, and no other has one", () => {
  const since = Date.parse(TEAM);
  expect(sinceOf({})).toEqual({ allowedModels: since, maxKeys: since });
  expect(sinceOf({ maxKeys: 2, gracePeriod: "1h" })).toEqual({ allowedModels: since });
  expect(sinceOf({}, "another")).toEqual({});
});
