/** Keyplane as its operator installs it, by the commands of the README and of docs/operations: on a node that runs pods. */
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { freshDatabase } from "../../env/database/engines.ts";
import { findHelm } from "../../env/helm.ts";
import type { StartedKubernetes } from "../../env/kubernetes.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { followService, startBalancer } from "../../env/node/balancer.ts";
import { NODE_ADDRESS } from "../../env/node/namespaces.ts";
import { KEYPLANE_IMAGE, startNode } from "../../env/node.ts";
import { until } from "../../env/until.ts";
import * as manifests from "../workload/manifests.ts";
import { type Calls, startCallers } from "./callers.ts";
import { blocksOf, commandsIn, fillIn, openTerminal, type Terminal } from "./pages.ts";

const INSTALLING = "docs/operations/kubernetes.md";
const UPGRADING = "docs/operations/upgrading.md";
const UNINSTALLING = "docs/operations/uninstalling.md";
const WITHOUT_HELM = "docs/operations/without-helm.md";
const NAMESPACE = "keyplane-system";
const TEAM = "team-a";
/** Where callers reach the Service. */
const SERVICE = { host: NODE_ADDRESS, port: 8000 };
const URL_OF_SERVICE = `http://${SERVICE.host}:${SERVICE.port}`;
/** Enough to say that a failure would have been seen. */
const MANY = 200;

const filledIn = (script: string): string => fillIn(script, { team: TEAM, url: URL_OF_SERVICE });

/** The tests go on from one another: an installation from its beginning to its end; at night with upgrades, and without Helm. */
describe("infra/chart, on a node", () => {
  let kubernetes: StartedKubernetes;
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let terminal: Terminal;
  const closers: { close(): void }[] = [];

  const run = (script: string) => terminal.run(filledIn(script));
  const apply = (...items: object[]) =>
    kubernetes.kubectl(["apply", "--server-side", "--filename=-"], manifests.list(items));
  const names = async (what: string) => (await run(`kubectl get ${what} -o name`)).trim().split("\n").sort();
  const podsOf = (component: string) => names(`pods -n ${NAMESPACE} -l app.kubernetes.io/component=${component}`);

  const declare = (name: string) =>
    apply(manifests.key(name, TEAM, { libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "notes" }] } }));
  async function keyOf(name: string): Promise<string> {
    await run(`kubectl wait --for=condition=Ready platformkey/${name} -n ${TEAM} --timeout=120s`);
    return Buffer.from(
      await run(`kubectl get secret ${name} -n ${TEAM} -o jsonpath={.data.api-key}`),
      "base64",
    ).toString();
  }
  const untilAnswered = ({ counts }: Calls, status: string, times: number) =>
    until(`callers are answered ${status}`, () => (counts.get(status) ?? 0) > times);

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([startNode(), freshDatabase()]);
    const programs = { kubectl: kubernetes.address.kubectl, helm: await findHelm() };
    terminal = await openTerminal(kubernetes.kubeconfigPath, programs);
    const port = Number(new URL(database.url).port);
    closers.push(await startBalancer({ host: NODE_ADDRESS, port }, () => ({ host: "127.0.0.1", port })));
    const reached = `${database.url.replace("127.0.0.1", NODE_ADDRESS)}?sslmode=disable`;
    await writeFile(join(terminal.folder, "database-url"), `${reached}\n`);
    // The chart brings them.
    await run("kubectl delete -f crds/");
  });

  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    console.log(await run(`kubectl get all,events -n ${NAMESPACE}`));
    console.log(await run(`kubectl logs -n ${NAMESPACE} -l app.kubernetes.io/name=keyplane --prefix --tail=20`));
  });

  afterAll(async () => {
    for (const closer of closers) closer.close();
    await terminal?.close();
    await database?.drop();
    await kubernetes?.close();
  });

  it("comes up from nothing by the README's lines, and delivers the first key that is declared", async () => {
    const [install = ""] = blocksOf("README.md", "Production, on Kubernetes");
    await run(install);
    expect(await run(`kubectl get jobs -n ${NAMESPACE} -o name`)).toBe("");
    const service = followService(kubernetes, NAMESPACE, "keyplane-server");
    closers.push(service, await startBalancer(SERVICE, service.next));
    await until("the Service has endpoints", () => service.next());
    await apply(manifests.team("team-a", [TEAM]), manifests.library("notes", TEAM));
    await declare("first");
    const calls = startCallers(URL_OF_SERVICE, await keyOf("first"));
    await untilAnswered(calls, "200", 10);
    await calls.stop();
    expect([...calls.counts.keys()]).toEqual(["200"]);
  });

  if (NIGHTLY) {
    it("is upgraded with callers running: each pod is replaced, no call fails, and keys are made meanwhile", async () => {
      const before = { server: await podsOf("server"), controller: await podsOf("controller") };
      expect([before.server.length, before.controller.length]).toEqual([2, 2]);
      const [, values = ""] = blocksOf(INSTALLING, "Installing");
      const file = join(terminal.folder, "values.yaml");
      await writeFile(file, filledIn(values));
      // So that there is something new; and nothing but restricted pods from here on.
      await appendFile(file, "server: { podLabels: { round: two } }\ncontroller: { podLabels: { round: two } }\n");
      await run(`kubectl label namespace ${NAMESPACE} pod-security.kubernetes.io/enforce=restricted`);
      const [upgrade = ""] = blocksOf(UPGRADING, "Upgrade");
      const calls = startCallers(URL_OF_SERVICE, await keyOf("first"));
      const upgraded = run(upgrade);
      await declare("second");
      await upgraded;
      const second = await keyOf("second");
      const areReplaced = async (component: "server" | "controller") => {
        const now = await podsOf(component);
        return now.length === 2 && !now.some((pod) => before[component].includes(pod));
      };
      await until("the old pods have ended", async () => (await areReplaced("server")) && areReplaced("controller"));
      await untilAnswered(calls, "200", MANY);
      await calls.stop();
      expect([...calls.counts.keys()]).toEqual(["200"]);
      const others = startCallers(URL_OF_SERVICE, second);
      await untilAnswered(others, "200", 10);
      await others.stop();
      expect([...others.counts.keys()]).toEqual(["200"]);
    });

    it("goes on with the pods that it has where those of an upgrade do not come up, and is rolled back", async () => {
      const before = await podsOf("server");
      const calls = startCallers(URL_OF_SERVICE, await keyOf("first"));
      const upgrade = `helm upgrade keyplane infra/chart -n ${NAMESPACE} -f values.yaml`;
      await terminal.run(`${upgrade} --set image.tag=none --set migration.enabled=false`);
      const waiting = "jsonpath={.items[*].status.containerStatuses[*].state.waiting.reason}";
      const isStuck = async () =>
        (await run(`kubectl get pods -n ${NAMESPACE} -o ${waiting}`)).includes("ImagePullBackOff");
      await until("the new pods cannot start", isStuck);
      const answered = calls.counts.get("200") ?? 0;
      await untilAnswered(calls, "200", answered + MANY);
      const [rollback = ""] = commandsIn(UPGRADING, "Going back").filter((command) => command.includes("rollback"));
      await run(rollback);
      await until("the pods are those of before", async () => (await podsOf("server")).join() === before.join());
      await calls.stop();
      expect([...calls.counts.keys()]).toEqual(["200"]);
    });
  }

  it("goes as the page says: keys end first, and nothing of it is left but the namespace", async () => {
    const commands = commandsIn(UNINSTALLING, "Uninstalling");
    const key = await keyOf("first");
    const [keys = "", teams = "", crds = "", release = ""] = commands;
    await run(keys);
    const calls = startCallers(URL_OF_SERVICE, key);
    await untilAnswered(calls, "401", 10);
    await calls.stop();
    await run([teams, crds, release].join("\n"));
    expect(await run("kubectl get crds -o name")).toBe("");
    const ours = "-l app.kubernetes.io/name=keyplane -A -o name";
    const kinds = "deployments,services,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,jobs";
    expect(await run(`kubectl get ${kinds},networkpolicies,poddisruptionbudgets ${ours}`)).toBe("");
  });

  if (NIGHTLY) {
    it("comes up without Helm, too, by the page's lines", async () => {
      for (const folder of ["infra/kustomize", "infra/kustomize/migration"]) {
        const image = `images: [{ name: keyplane, newName: ${KEYPLANE_IMAGE} }]\n`;
        await appendFile(join(terminal.folder, folder, "kustomization.yaml"), image);
      }
      const [install = ""] = blocksOf(WITHOUT_HELM, "Installing");
      await run(install);
      await run(`kubectl rollout status deployment -n ${NAMESPACE} --timeout=120s`);
      await apply(manifests.team("team-a", [TEAM]), manifests.library("notes", TEAM));
      await declare("third");
      const calls = startCallers(URL_OF_SERVICE, await keyOf("third"));
      await untilAnswered(calls, "200", 10);
      await calls.stop();
      expect([...calls.counts.keys()]).toEqual(["200"]);
    });
  }
});
