import { afterAll, beforeAll, describe } from "vitest";
import { type LentKubernetes, lendKubernetes } from "./lent.ts";

/**
 * For promises on a real control plane, with `crds/` installed, a controller manager and an audit log. Until the tests
 * have ended it is theirs alone, and nothing is declared there before them.
 */
export function describeOnKubernetes(promise: string, tests: (kubernetes: () => LentKubernetes) => void): void {
  describe(`${promise}, on Kubernetes`, () => {
    let lent: LentKubernetes | undefined;
    beforeAll(async () => {
      lent = await lendKubernetes();
    });
    afterAll(() => lent?.close());
    tests(() => {
      if (lent === undefined) throw new Error("the control plane is lent within tests alone");
      return lent;
    });
  });
}
