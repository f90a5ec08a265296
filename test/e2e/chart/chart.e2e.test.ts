/** Keyplane as its operator installs it: Helm, and a node that runs its pods. */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { freshDatabase } from "../../env/engines.ts";
import type { StartedKubernetes } from "../../env/kubernetes.ts";
import { followService, startBalancer } from "../../env/node/balancer.ts";
import { NODE_ADDRESS } from "../../env/node/namespaces.ts";
import { KEYPLANE_IMAGE, startNode } from "../../env/node.ts";
import { until } from "../../env/until.ts";
import { CHART, type Helm, openHelm } from "../../infra/chart/helm.ts";
import * as manifests from "../workload/manifests.ts";
import { startCallers } from "./callers.ts";

const NAMESPACE = "keyplane-system";
const TEAM = "team-a";
/** Where callers reach the Service. */
const SERVICE = { host: NODE_ADDRESS, port: 8000 };
const URL_OF_SERVICE = `http://${SERVICE.host}:${SERVICE.port}`;
/** Enough to say that a failure would have been seen. */
const MANY = 200;

const SETTINGS = [
  ...[`image.repository=${KEYPLANE_IMAGE.repository}`, `image.tag=${KEYPLANE_IMAGE.tag}`, "image.pullPolicy=Never"],
  ...[`publicUrl=${URL_OF_SERVICE}`, `keyNamespaces={${TEAM}}`],
  // The node has not much to spare.
  ...["server.resources.requests.cpu=50m", "controller.resources.requests.cpu=50m"],
].flatMap((setting) => ["--set", setting]);

describe("infra/chart, on a node", () => {
  let kubernetes: StartedKubernetes;
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let home: string;
  let helm: Helm;
  const closers: { close(): void }[] = [];

  const kubectl = (...args: string[]) => kubernetes.kubectl(args);
  const inNamespace = ["--namespace", NAMESPACE];
  const install = (...args: string[]) =>
    helm.helm("upgrade", "--install", "keyplane", CHART, ...inNamespace, ...SETTINGS, "--wait", ...args);
  const pods = async (component: string) =>
    (
      await kubectl(
        "get",
        "pods",
        ...inNamespace,
        `--selector=app.kubernetes.io/component=${component}`,
        "--output=name",
      )
    )
      .trim()
      .split("\n")
      .sort();
  const declare = (name: string) =>
    apply(manifests.key(name, TEAM, { libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "notes" }] } }));
  const keyOf = async (name: string) => {
    await kubectl("wait", "--for=condition=Ready", `platformkey/${name}`, "--namespace", TEAM, "--timeout=120s");
    const data = await kubectl("get", "secret", name, "--namespace", TEAM, "--output=jsonpath={.data.api-key}");
    return Buffer.from(data, "base64").toString();
  };
  const apply = (...items: object[]) =>
    kubernetes.kubectl(["apply", "--server-side", "--filename=-"], manifests.list(items));
  const secret = (name: string, key: string, value: string) =>
    apply({ apiVersion: "v1", kind: "Secret", metadata: { name, namespace: NAMESPACE }, stringData: { [key]: value } });

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([startNode(), freshDatabase()]);
    home = await mkdtemp(join(tmpdir(), "keyplane-helm-"));
    helm = await openHelm(home, kubernetes);
    const { port } = new URL(database.url);
    closers.push(
      await startBalancer({ host: NODE_ADDRESS, port: Number(port) }, () => ({
        host: "127.0.0.1",
        port: Number(port),
      })),
    );
    await apply(manifests.namespace(NAMESPACE), manifests.namespace(TEAM));
    await secret("keyplane-encryption-key", "encryption-key", `${randomBytes(32).toString("base64")}\n`);
    await secret("keyplane-database", "url", database.url.replace("127.0.0.1", NODE_ADDRESS));
  });

  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    console.log(await kubectl("get", "all,events", ...inNamespace));
    console.log(
      await kubectl("logs", ...inNamespace, "--selector=app.kubernetes.io/name=keyplane", "--prefix", "--tail=20"),
    );
  });

  afterAll(async () => {
    for (const closer of closers) closer.close();
    await database?.drop();
    await kubernetes?.close();
    if (home !== undefined) await rm(home, { recursive: true });
  });

  it("comes up from nothing, with the schema first, and delivers the first key that is declared", async () => {
    await install("--take-ownership");
    expect(await kubectl("get", "jobs", ...inNamespace, "--output=name")).toBe("");
    const service = followService(kubernetes, NAMESPACE, "keyplane-server");
    closers.push(service, await startBalancer(SERVICE, service.next));
    await until("the Service has endpoints", () => service.next());
    await apply(manifests.team("team-a", [TEAM]), manifests.library("notes", TEAM));
    await declare("first");
    const calls = startCallers(URL_OF_SERVICE, await keyOf("first"));
    await until("callers are answered", () => (calls.counts.get("200") ?? 0) > 10);
    await calls.stop();
    expect([...calls.counts.keys()]).toEqual(["200"]);
  });

  it("is upgraded with callers running: each pod is replaced, no call fails, and keys are made meanwhile", async () => {
    const before = { server: await pods("server"), controller: await pods("controller") };
    expect([before.server.length, before.controller.length]).toEqual([2, 2]);
    const calls = startCallers(URL_OF_SERVICE, await keyOf("first"));
    const upgrade = install("--set", "server.podLabels.round=two", "--set", "controller.podLabels.round=two");
    await declare("second");
    await upgrade;
    const second = await keyOf("second");
    const areGone = async (component: "server" | "controller") => {
      const now = await pods(component);
      return now.length === 2 && !now.some((pod) => before[component].includes(pod));
    };
    await until("the old pods have ended", async () => (await areGone("server")) && (await areGone("controller")));
    await until("there were many calls", () => (calls.counts.get("200") ?? 0) > MANY);
    await calls.stop();
    expect([...calls.counts.keys()]).toEqual(["200"]);
    const others = startCallers(URL_OF_SERVICE, second);
    await until("callers are answered", () => (others.counts.get("200") ?? 0) > 10);
    await others.stop();
    expect([...others.counts.keys()]).toEqual(["200"]);
  });
});
