import { expect, it } from "vitest";
import type { WorldTests } from "../controller/fixtures/setup.ts";
import { endsAsUsual, SCENARIOS, type ScenarioName, usual } from "./scenarios.ts";

/** Every fault after every effect; on files with PGlite, and on Kubernetes with PostgreSQL. */
export const faultsAtEveryPoint: WorldTests = (setup) => {
  const EFFECTS: Record<ScenarioName, readonly string[]> = {
    "a first mint": ["addFinalizer", "commit key.reserved", "createSecret", "commit key.activated", "writeStatus"],
    "a rotation": [
      "commit key.policy_updated",
      "commit key.reserved",
      "replaceSecret",
      "commit key.activated",
      "writeStatus",
    ],
    "a lost Secret": ["commit key.reserved", "createSecret", "commit key.activated", "writeStatus"],
    "a take-over": ["addFinalizer", "commit key.taken_over", "commit key.policy_updated", "writeStatus"],
    "a declared revocation": ["commit key.revoked", "writeStatus"],
    "a deletion": ["commit key.revoked", "deleteSecret", "removeFinalizer"],
    "a deletion with Retain": ["replaceSecret", "commit key.released", "removeFinalizer"],
  };

  for (const name of Object.keys(SCENARIOS) as ScenarioName[]) {
    it(`${name} ends as it does undisturbed`, async (context) => {
      const { injector } = await usual(context, setup(), name);
      // The status reports meanwhile what takes long.
      const withoutStatus = (effects: readonly string[]) => effects.filter((effect) => effect !== "writeStatus");
      const effects = withoutStatus([...new Set(injector.trace)]);
      expect(effects, "these are all of its effects").toEqual(withoutStatus(EFFECTS[name]));
      for (const effect of EFFECTS[name]) {
        for (const how of ["killed after", "answer lost", "failed"] as const) {
          await endsAsUsual(context, setup(), name, { effect, how });
        }
      }
    });
  }
};
