/** What an operator sees of an installation: what doctor says, and which alerts fire. */
import { expect } from "vitest";
import type { Finding, FindingName } from "../../../cli/doctor/finding.ts";
import { firingAlerts, type Scrape, scrape } from "../../env/alerts.ts";
import { until } from "../../env/until.ts";
import { sectionOf, type Terminal } from "./pages.ts";

export const RUNBOOKS = "docs/operations/runbooks.md";
const NAMESPACE = "keyplane-system";

/** As the runbooks begin, with the encryption keys that servers are given. */
const DOCTOR = `
kubectl get secret keyplane-encryption-key -n ${NAMESPACE} -o 'jsonpath={.data.encryption-key}' | base64 -d > given-key
keyplane doctor --database-url "$(cat database-url)" --kubeconfig "$KUBECONFIG" --encryption-key-file given-key -o json || [ $? = 1 ]`;
const ADMIN_LISTENERS = `kubectl get pods -n ${NAMESPACE} -l 'app.kubernetes.io/component in (server,controller)' \
  -o 'jsonpath={range .items[*]}{.status.podIP}:8081 {end}'`;

export type Operator = {
  /** Waits until doctor names what is wrong, among else, and the alerts fire, each of which has its runbook. */
  sees(wrong: readonly FindingName[], alerts: readonly string[]): Promise<void>;
  /** What doctor says to do about what is wrong. */
  actionOf(name: FindingName): Promise<string>;
  /** Waits until doctor finds nothing wrong and no alert fires. */
  seesNothing(): Promise<void>;
};

/** @param terminal in whose folder the file `database-url` is */
export function createOperator(terminal: Terminal): Operator {
  /** When nothing was wrong. */
  let before: Scrape | undefined;

  async function look(): Promise<Scrape> {
    const targets = (await terminal.run(ADMIN_LISTENERS)).split(" ").filter((target) => /^\d/.test(target));
    return scrape(targets, NAMESPACE);
  }
  async function wrong(): Promise<Finding[]> {
    const { findings }: { readonly findings: readonly Finding[] } = JSON.parse(await terminal.run(DOCTOR));
    return findings.filter(({ severity }) => severity === "error");
  }

  return {
    async sees(names, alerts) {
      const from = before;
      if (from === undefined) throw new Error("what is wrong is to be seen after nothing was");
      await until(`doctor finds ${names}`, async () => {
        expect((await wrong()).map(({ name }) => name)).toEqual(expect.arrayContaining([...names]));
        return true;
      });
      for (const alert of alerts) sectionOf(RUNBOOKS, alert);
      await until(`there are the alerts ${alerts}`, async () => {
        expect(await firingAlerts(from, await look())).toEqual(expect.arrayContaining([...alerts]));
        return true;
      });
    },
    async actionOf(wanted) {
      const action = (await wrong()).find(({ name }) => name === wanted)?.action;
      if (typeof action !== "string") throw new Error(`doctor says nothing to do about ${wanted}`);
      return action;
    },
    async seesNothing() {
      await until("nothing is wrong", async () => {
        const earlier = await look();
        expect(await wrong()).toEqual([]);
        const later = await look();
        expect(await firingAlerts(earlier, later)).toEqual([]);
        before = later;
        return true;
      });
    },
  };
}
