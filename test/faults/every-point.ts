import { expect, it } from "vitest";
import type { WorldTests } from "../controller/fixtures/setup.ts";
import type { InjectedFault } from "./injector.ts";
import { endsAsUsual, SCENARIOS, type ScenarioName, usual } from "./scenarios.ts";

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
const HOWS = ["killed after", "answer lost", "failed"] as const;

/**
 * A fault after an effect of what happens to a key; on files, and on Kubernetes. Each is played in a world that ends with
 * its test: the controllers of worlds that are left hear of all that the others do.
 *
 * @param isPlayed which of all faults are; what happens without one of them is not played either
 */
export const faultsAtEveryPoint =
  (isPlayed: (name: ScenarioName, fault: InjectedFault) => boolean): WorldTests =>
  (setup) => {
    for (const name of Object.keys(SCENARIOS) as ScenarioName[]) {
      const faults = EFFECTS[name].flatMap((effect) => HOWS.map((how) => ({ effect, how })));
      const played = faults.filter((fault) => isPlayed(name, fault));
      if (played.length === 0) continue;
      it(`${name} has these effects`, async (context) => {
        const { injector } = await usual(context, setup(), name);
        // The status reports meanwhile what takes long.
        const withoutStatus = (effects: readonly string[]) =>
          effects.filter((effect) => !effect.startsWith("writeStatus"));
        expect(withoutStatus([...new Set(injector.trace)])).toEqual(withoutStatus(EFFECTS[name]));
      });
      for (const { effect, how } of played) {
        it(`${name} ends as it does undisturbed, ${how}: ${effect}`, async (context) => {
          await endsAsUsual(context, setup(), name, { effect, how });
        });
      }
    }
  };
