/**
 * A workload as its operator sees it: pods on a real node, which have a key from a mounted Secret and from their
 * environment; PostgreSQL, two replicas of the server, and the controller with the rights of `infra/rbac`; kubectl.
 */
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { freshDatabase } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { followAnswers, type PodAnswers } from "./answers.ts";
import type { Tally } from "./client.ts";
import { openCluster, type WorkloadCluster } from "./cluster.ts";
import * as manifests from "./manifests.ts";
import { type Product, startProduct } from "./product.ts";

/** The longest that a replica accepts a key after it was revoked, in milliseconds: its lease. */
const BOUND_MS = 5_000;
const NAME = `keyplane-e2e-${randomBytes(3).toString("hex")}`;
const OTHER = `${NAME}-other`;
/** The pod that mounts the Secret, and the Deployment that has it in its environment. */
const MOUNTED = "mounted";
const VARIABLE = "variable";
const APPS = [MOUNTED, VARIABLE];
/** Of one status: enough to say that it is not an exception. */
const MANY = 50;

/** Longer than the replicas take to report a use, and so that only adoption ends an old version within the test. */
const ADOPTION = { mode: "Adoption", min: "5s", max: "30m", quiet: "15s" };

/** A key that both have. */
const agent = (trigger: string) =>
  manifests.key("agent", NAME, {
    libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "notes" }] },
    rotation: { trigger, overlap: ADOPTION },
    restartTargets: [{ kind: "Deployment", name: VARIABLE }],
  });

describe("a workload on Kubernetes", () => {
  let cluster: WorkloadCluster;
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let product: Product;
  let answers: () => PodAnswers[];
  const stopFollowing = new AbortController();

  const apply = (...items: object[]) =>
    cluster.kubectl(["apply", "--server-side", "--filename", "-"], manifests.list(items));
  const statusOfAgent = async () => {
    const args = ["get", "platformkey", "agent", "--namespace", NAME, "--output=json"];
    return JSON.parse(await cluster.kubectl(args)).status;
  };
  const plaintextOf = async (namespace: string) => {
    const args = ["get", "secret", "agent", "--namespace", namespace, "--output=jsonpath={.data.api-key}"];
    return Buffer.from(await cluster.kubectl(args), "base64").toString();
  };
  /** How each replica answers to a key. */
  const call = (key: string) =>
    Promise.all(
      product.servers.map(async (url) => {
        const answer = await fetch(`${url}/atoms?limit=1`, { headers: { authorization: `Bearer ${key}` } });
        await answer.arrayBuffer();
        return answer.status;
      }),
    );
  /** All answers of a status that the pods of an app have had. */
  const talliesOf = (app: string, status: number): Tally[] =>
    answers().flatMap((pod) => (pod.app === app ? pod.tallies.filter((tally) => tally.status === status) : []));
  /** Whether both apps have had many answers of a status, to this key if one is given. */
  const bothHave = (status: number, prefix?: string) => () =>
    APPS.every((app) => {
      const tallies = talliesOf(app, status).filter((tally) => prefix === undefined || tally.prefix === prefix);
      return tallies.reduce((sum, { count }) => sum + count, 0) >= MANY;
    });
  /** Whatever the pods were answered to these keys but 200. */
  const failuresOf = (...prefixes: string[]) =>
    answers().flatMap(({ pod, tallies }) =>
      tallies.filter((one) => one.status !== 200 && prefixes.includes(one.prefix)).map((one) => ({ pod, ...one })),
    );

  beforeAll(async () => {
    [cluster, database] = await Promise.all([openCluster(), freshDatabase()]);
    await apply(manifests.namespace(NAME), manifests.namespace(OTHER));
    product = await startProduct(cluster, database.url, [NAME, OTHER]);
    answers = followAnswers(cluster, NAME, stopFollowing.signal);
  });

  afterEach(async ({ task }) => {
    if (task.result?.state !== "fail") return;
    console.log(await cluster.kubectl(["get", "pods,platformkeys,events", "--namespace", NAME]));
    console.log(JSON.stringify(answers(), null, 1));
    for (const { pod } of answers()) {
      console.log(await cluster.kubectl(["logs", pod, "--namespace", NAME, "--tail=1"]).catch(String));
    }
    console.log(await product.logs());
  });

  afterAll(async () => {
    stopFollowing.abort();
    if (cluster?.isShared) {
      await cluster.kubectl(["delete", "namespace", NAME, OTHER, "--ignore-not-found"]);
      await cluster.kubectl(["delete", "platformteam", NAME, "--ignore-not-found"]);
    }
    await product?.stop();
    await database?.drop();
    await cluster?.close();
  });

  it("comes up with the key that is applied together with it, and is accepted from its first call", async () => {
    const options = { image: cluster.image, servers: product.servers };
    await apply(
      manifests.team(NAME, [NAME, OTHER]),
      manifests.library("notes", NAME),
      agent("1"),
      manifests.program(NAME),
      manifests.podWithFile(NAME, "agent", { app: MOUNTED, ...options }),
      manifests.deploymentWithVariable(NAME, "agent", { app: VARIABLE, ...options }),
    );
    await until("both work", bothHave(200));
    const { keyPrefix } = await statusOfAgent();
    expect(failuresOf(keyPrefix)).toEqual([]);
  });

  it("b22: is refused within 5 s when its key is deleted, and the Secret is gone", async () => {
    // Returns when the object is gone, before which the key is revoked.
    await cluster.kubectl(["delete", "platformkey", "agent", "--namespace", NAME]);
    const deleted = Date.now();
    await until("both are refused", bothHave(401));
    const lastAccepted = Math.max(...APPS.flatMap((app) => talliesOf(app, 200)).map(({ last }) => last));
    expect(lastAccepted).toBeLessThan(deleted + BOUND_MS);
    const secrets = () => cluster.kubectl(["get", "secrets", "--namespace", NAME, "--output=name"]);
    await until("the Secret is gone", async () => (await secrets()) === "");
  });

  it("works again when its key is declared again, by the mounted file and by a restart", async () => {
    await apply(agent("1"));
    const ready = ["wait", "--for=condition=Ready", "platformkey/agent", "--namespace", NAME, "--timeout=60s"];
    await cluster.kubectl(ready);
    const { keyPrefix } = await statusOfAgent();
    await until("both work", bothHave(200, keyPrefix));
  });

  it("follows a rotation without one refused call, and the old version ends soon after both have left it", async () => {
    const old = await plaintextOf(NAME);
    await apply(agent("2"));
    const rotated = async () => {
      const status = await statusOfAgent();
      return status.currentVersion === 2 && status;
    };
    const { keyPrefix } = await until("the key is rotated", rotated);
    await until("both have moved", bothHave(200, keyPrefix));
    const retired = async () => {
      const { versions } = await statusOfAgent();
      return versions.some((one: { number: number; state: string }) => one.number === 1 && one.state === "Retired");
    };
    await until("the old version is retired", retired);
    expect(await call(old)).toEqual([401, 401]);
    const oldPrefix = old.slice(0, 12);
    expect(bothHave(200, oldPrefix)()).toBe(true);
    expect(failuresOf(oldPrefix, keyPrefix)).toEqual([]);
  });

  it("has no key that works any more once a namespace is deleted", async () => {
    await apply(manifests.key("agent", OTHER, {}));
    await cluster.kubectl([
      "wait",
      "--for=condition=Ready",
      "platformkey/agent",
      "--namespace",
      OTHER,
      "--timeout=60s",
    ]);
    const key = await plaintextOf(OTHER);
    expect(await call(key)).toEqual([200, 200]);
    await cluster.kubectl(["delete", "namespace", OTHER]);
    const isRefused = async () => (await call(key)).every((status) => status === 401);
    await until("the key is refused", isRefused, { timeoutMs: BOUND_MS });
  });
});
