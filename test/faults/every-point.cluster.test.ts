import { describeWorldsOnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { faultsAtEveryPoint } from "./every-point.ts";
import type { InjectedFault } from "./injector.ts";
import type { ScenarioName } from "./scenarios.ts";

/**
 * By day a death after writes that Kubernetes alone has rules of its own for: who owns a field or an object, and what a
 * finalizer holds. processes.cluster.test.ts has more of them, an answer that is lost on Kubernetes is
 * network.cluster.test.ts's, and all of these faults on files every-point.faults.test.ts's.
 */
const BY_DAY: Partial<Record<ScenarioName, readonly string[]>> = {
  "a first mint": ["addFinalizer"],
  "a rotation": ["replaceSecret"],
  "a take-over": ["addFinalizer"],
  "a deletion": ["deleteSecret"],
  "a deletion with Retain": ["replaceSecret", "commit key.released"],
};
const isOfDay = (name: ScenarioName, { effect, how }: InjectedFault) =>
  how === "killed after" && BY_DAY[name]?.includes(effect) === true;

describeWorldsOnKubernetes(
  "whatever goes wrong after whichever effect,",
  faultsAtEveryPoint((name, fault) => NIGHTLY || isOfDay(name, fault)),
);
