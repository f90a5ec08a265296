/** A control plane that goes, forgets, is upgraded, and is put back in time. */
import { randomUUID } from "node:crypto";
import { cp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, type TestContext } from "vitest";
import { parse } from "yaml";
import { findAfterRestore } from "../../cli/doctor/after-restore.ts";
import { objectsPath, secretsPath } from "../../controller/cluster/kubernetes/resources.ts";
import { API_VERSION } from "../../domain/kinds/kinds.ts";
import { describeWorldsOnOwnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { type KubernetesSide, makeKubernetesSide } from "../controller/fixtures/kubernetes-side.ts";
import { key, NAMESPACE, startWorld, team } from "../controller/fixtures/world.ts";
import { type ApiCall, startApiProxy } from "../env/kubernetes/api-proxy.ts";
import { openEtcd } from "../env/kubernetes/etcd.ts";
import type { StartedKubernetes } from "../env/kubernetes.ts";
import { until } from "../env/until.ts";
import { behindProxies } from "./behind-proxies.ts";
import { endState } from "./end-state.ts";

const isKeyList = (call: ApiCall) =>
  call.method === "GET" && call.path.endsWith("/platformkeys") && call.query.get("limit") === "500";

async function untilReady(kubernetes: StartedKubernetes): Promise<void> {
  const ready = async () => (await kubernetes.request("GET", "/readyz")).status === 200;
  await until("the API server is ready", ready);
}

async function restartServer(kubernetes: StartedKubernetes): Promise<void> {
  await kubernetes.kill("kube-apiserver");
  await kubernetes.restart("kube-apiserver");
  await untilReady(kubernetes);
}

/** The schema of PlatformKey, as far as a test changes it. */
type Schema = Record<string, unknown> & {
  properties: Record<"spec" | "status", Record<string, unknown> & { properties: Record<string, unknown> }>;
};

/** Has the definition of PlatformKey be another one until the test has ended. */
async function defineOtherwise(context: TestContext, kubernetes: StartedKubernetes, change: (schema: Schema) => void) {
  const text = await readFile(join(import.meta.dirname, "../../crds/platformkeys.yaml"), "utf8");
  const apply = async (definition: unknown) => {
    const args = ["apply", "--server-side", "--force-conflicts", "--filename", "-"];
    await kubernetes.kubectl(args, JSON.stringify(definition));
  };
  const definition = parse(text);
  change(definition.spec.versions[0].schema.openAPIV3Schema);
  await apply(definition);
  context.onTestFinished(() => apply(parse(text)));
}

/** Does something while neither the API server nor its etcd runs. */
async function whileStopped(kubernetes: StartedKubernetes, act: () => Promise<void>): Promise<void> {
  await kubernetes.kill("kube-apiserver");
  await kubernetes.kill("etcd");
  await act();
  await kubernetes.restart("etcd");
  await kubernetes.restart("kube-apiserver");
  await untilReady(kubernetes);
}

/** Takes a backup of the cluster, while its etcd is paused. @returns what puts the cluster back to it */
async function backUp(context: TestContext, kubernetes: StartedKubernetes): Promise<() => Promise<void>> {
  const etcd = kubernetes.etcdFolder;
  const backup = `${etcd}-backup`;
  const pid = kubernetes.pids.etcd ?? expect.fail("etcd has no pid");
  process.kill(pid, "SIGSTOP");
  await cp(etcd, backup, { recursive: true }).finally(() => process.kill(pid, "SIGCONT"));
  context.onTestFinished(() => rm(backup, { recursive: true, force: true }));
  return () =>
    whileStopped(kubernetes, async () => {
      await rm(etcd, { recursive: true });
      await cp(backup, etcd, { recursive: true });
    });
}

const PROBE = "/apis/keyplane.dev/v1alpha1/namespaces/default/platformkeys/probe";

/**
 * Waits until Kubernetes' garbage collector has heard of the keys that are declared. It alone lets go of an object that
 * is deleted in the foreground, and of none that its watch has not reported.
 */
async function untilCollectorHasHeard({ request }: StartedKubernetes): Promise<void> {
  const { kind, spec } = key("probe");
  const probe = JSON.stringify({ apiVersion: API_VERSION, kind, metadata: { name: "probe" }, spec });
  const has = (status: number, method: string, path: string, body?: string) =>
    until(`${method} ${path}: ${status}`, async () => {
      const answer = await request(method, path, body === undefined ? {} : { body });
      return answer.status === status;
    });
  await has(201, "POST", PROBE.replace(/\/probe$/, ""), probe);
  await has(200, "DELETE", `${PROBE}?propagationPolicy=Foreground`);
  await has(404, "GET", PROBE);
}

/**
 * Waits until Kubernetes' garbage collector has judged the Secrets that there are: it has taken away a younger one,
 * whose owner there never was.
 */
async function untilCollectorHasJudged({ request }: StartedKubernetes): Promise<void> {
  const owner = { apiVersion: "v1", kind: "ConfigMap", name: "never-there", uid: randomUUID() };
  const body = JSON.stringify({ metadata: { name: "orphan", ownerReferences: [owner] } });
  expect((await request("POST", secretsPath("default"), { body })).status).toBe(201);
  const isGone = async () => (await request("GET", `${secretsPath("default")}/orphan`)).status === 404;
  await until("an orphan is collected", isGone);
}

/** Has PlatformKey be served no more; served again by what is returned, and when the test has ended. */
async function stopServing(
  context: TestContext,
  { kubectl, request }: StartedKubernetes,
  namespace: string,
): Promise<() => Promise<void>> {
  const { versions } = parse(await readFile(join(import.meta.dirname, "../../crds/platformkeys.yaml"), "utf8")).spec;
  const serve = async (served: boolean) => {
    const value = versions.map((version: object) => ({ ...version, served }));
    const patch = JSON.stringify([{ op: "replace", path: "/spec/versions", value }]);
    await kubectl(["patch", "crd", "platformkeys.keyplane.dev", "--type=json", "--patch", patch]);
    // In between it asks for patience.
    const status = served ? 200 : 404;
    const answers = async () => (await request("GET", objectsPath("PlatformKey", namespace))).status;
    await until(`it answers with ${status}`, async () => (await answers()) === status);
  };
  context.onTestFinished(() => serve(true));
  await serve(false);
  return () => serve(true);
}

describeWorldsOnOwnKubernetes("a control plane", (setup, kubernetes) => {
  // First, since after a restart of the API server Kubernetes' garbage collector waits before it listens again.
  it("c48: a kind that is not served for a while, its definition changed, ends nothing and loses no Secret, one made meanwhile included, and is worked on when it is back", async (context) => {
    const world = await startWorld(context, setup(), key("agent"), key("healed"));
    const [plaintext, lost] = [await world.plaintextOf("agent"), await world.plaintextOf("healed")];
    await untilCollectorHasHeard(kubernetes());
    const serveAgain = await stopServing(context, kubernetes(), `${NAMESPACE}${world.tag}`);
    await world.loseSecret("healed");
    const healed = await until("a new Secret", () => world.keyIn("healed"));
    await untilCollectorHasJudged(kubernetes());
    expect(await world.keyIn("healed")).toBe(healed);
    const ref = { kind: "PlatformKey", namespace: `${NAMESPACE}${world.tag}`, name: "agent" } as const;
    expect(await world.cluster().lookUp(ref, "another")).toBe("unknown");
    await world.stop();
    await world.start();
    await world.collectGarbage();
    expect(world.get("PlatformKey", "agent")).toBeUndefined();
    const decisions = () => [plaintext, lost, healed].map((one) => world.decide(one));
    const allAllowed = ["allowed", "allowed", "allowed"];
    expect(decisions()).toEqual(allAllowed);
    await serveAgain();
    await until("it is asked for by name again", async () => (await world.cluster().lookUp(ref, "another")) === "gone");
    await until("it is known again", () => world.get("PlatformKey", "agent"));
    await world.declare(...["agent", "healed"].map((name) => key(name, { displayName: "Still worked on" })));
    const shown = async (name: string) => [world.condition("Ready", name), (await world.stored(name)).lastNumber];
    expect(await Promise.all(["agent", "healed"].map(shown))).toEqual([
      ["True/Ready", 1],
      ["True/Ready", 2],
    ]);
    expect(decisions()).toEqual(allAllowed);
  });

  it("c19, c18: that was away is asked gently, by one watch a kind, and for everything again when it answers 410; what has gone meanwhile is counted once, and the controller goes on by itself", async (context) => {
    const { api, side, setup: behind } = await behindProxies(context, kubernetes(), setup());
    const world = await startWorld(context, behind, key("stays"), key("gone"));
    const [stays, gone] = [await world.plaintextOf("stays"), await world.plaintextOf("gone")];
    const uid = world.get("PlatformKey", "gone")?.uid;
    const most = new Map<string, number>();
    const count = setInterval(() => {
      const open = Map.groupBy(
        api.calls.filter((call) => call.isWatch && call.isOpen()),
        ({ path }) => path,
      );
      for (const [path, calls] of open) most.set(path, Math.max(most.get(path) ?? 0, calls.length));
    }, 5);
    context.onTestFinished(() => clearInterval(count));
    const hear = api.rule((call) => (call.isWatch ? { do: "hang" } : undefined));
    api.cutAll();
    await side().patch(key("gone"), { metadata: { finalizers: null } });
    await side().remove(key("gone"));
    await world.write(key("new"));
    await kubernetes().compact();

    const downAt = performance.now();
    await kubernetes().kill("kube-apiserver");
    const before = api.calls.length;
    hear();
    api.cutAll();
    const attempts = () =>
      Map.groupBy(
        api.calls.slice(before).filter(({ isWatch }) => isWatch),
        ({ path }) => path,
      );
    await until("it is asked for its keys again and again", () =>
      [...attempts()].some(([path, calls]) => path.endsWith("/platformkeys") && calls.length >= 5),
    );
    const down = performance.now() - downAt;
    // The waits double from 250 ms, of which jitter takes up to half away.
    const bound = Math.log2(down / 125 + 1) + 2;
    for (const [path, calls] of attempts()) expect(calls.length, path).toBeLessThanOrEqual(bound);
    await kubernetes().restart("kube-apiserver");
    await untilReady(kubernetes());
    await until("the new one", () => world.condition("Ready", "new") === "True/Ready");
    expect(api.calls.slice(before).some(isKeyList), "it was listed, since the watch was refused").toBe(true);
    expect(world.get("PlatformKey", "gone")).toBeUndefined();
    await world.collectGarbage();
    await until("refused", () => world.decide(gone) === "unauthorized");
    await world.collectGarbage();
    const revoked = (await world.storedKeys()).filter(({ state }) => state === "revoked");
    expect(revoked.map(({ ownerUid, revocation }) => [ownerUid, revocation?.reason])).toEqual([[uid, "Orphaned"]]);
    const { rows } = await world.store.db.executeQuery<{ n: number }>(
      world.store.db
        .selectFrom("audit_events")
        .select(({ fn }) => fn.countAll<number>().as("n"))
        .where("kind", "=", "key.revoked")
        .where("key_id", "=", revoked[0]?.id ?? "")
        .compile(),
    );
    expect(rows[0]?.n).toBe(1);
    expect(world.decide(stays)).toBe("allowed");

    await world.write(key("after"));
    await until("a key that is declared afterwards", () => world.condition("Ready", "after") === "True/Ready");
    expect(world.condition("Ready", "stays")).toBe("True/Ready");
    expect([...most.values()].filter((watches) => watches > 1)).toEqual([]);
    expect(most.size).toBeGreaterThanOrEqual(4);
  });

  it("c18: that has forgotten a page is asked for the list anew", async (context) => {
    const api = await startApiProxy(kubernetes());
    const side: KubernetesSide = await makeKubernetesSide(
      kubernetes(),
      { ahead: 0, off: 0, databaseOff: 0 },
      { kubeconfig: api.kubeconfigPath },
    );
    await side.write(key("first"));
    const etcd = openEtcd(kubernetes().etcdSocket);
    const names = Array.from({ length: 519 }, (_, i) => `key-${i}`);
    const kept = `/registry/keyplane.dev/platformkeys/${NAMESPACE}${side.tag}/first`;
    await etcd.copy(kept, names).finally(() => etcd.close());
    let forgot = 0;
    api.rule(async (call) => {
      if (!call.query.has("continue") || forgot > 0) return undefined;
      forgot++;
      await side.write(key("late"));
      await kubernetes().compact();
      await restartServer(kubernetes());
      return undefined;
    });
    const cluster = await side.open(() => {});
    const stop = new AbortController();
    context.onTestFinished(async () => {
      stop.abort();
      await cluster.close();
      await api.close();
    });
    await cluster.watch(() => {}, stop.signal);
    expect(forgot).toBe(1);
    expect(api.calls.filter((call) => isKeyList(call) && !call.query.has("continue")).length).toBe(2);
    expect(cluster.list("PlatformKey")).toHaveLength(521);
  });

  it("c24: kinds that have a field more, and objects from before it, are no reason to mint or to revoke", async (context) => {
    const world = await startWorld(context, setup(), key("agent"), key("suspended", { state: "Suspended" }));
    const plaintext = await world.plaintextOf("agent");
    const before = await endState(world, ["agent"], [plaintext]);
    await world.stop();
    await defineOtherwise(context, kubernetes(), ({ properties: { spec, status } }) => {
      spec.properties.audience = { type: "string", default: "everybody" };
      status.properties.audience = { type: "string" };
    });
    await until("the new field is served", async () => {
      const collection = `/apis/keyplane.dev/v1alpha1/namespaces/${NAMESPACE}${world.tag}/platformkeys`;
      const { body } = await kubernetes().request("GET", collection);
      return JSON.stringify(body).includes("everybody");
    });
    await world.start();
    await world.rest();
    expect(await endState(world, ["agent"], [plaintext])).toEqual(before);
    await world.declare(key("agent", { audience: "machines" }));
    expect(await endState(world, ["agent"], [plaintext])).toEqual(before);
    expect((await world.stored("agent")).lastNumber).toBe(1);
  });

  it("b72: what admission would have refused is refused by the controller where admission is open", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    await defineOtherwise(context, kubernetes(), (schema) => {
      schema.properties.spec = { type: "object", "x-kubernetes-preserve-unknown-fields": true, properties: {} };
      delete schema["x-kubernetes-validations"];
    });
    const forbidden = {
      star: { scopes: ["*"] },
      unknown: { scopes: ["memory:read", "memory:admin"] },
      "wrong-case": { scopes: ["Memory:Read"] },
      many: { scopes: Array.from({ length: 10_000 }, () => "memory:read") },
      both: { scopes: ["memory:read"], preset: "MCPReadOnly" },
      elsewhere: { preset: "MCPReadOnly", secret: { name: "../../other" } },
    };
    await until("admission is open", async () => {
      await world.write(key("star", forbidden.star));
      return true;
    });
    for (const [name, spec] of Object.entries(forbidden)) await world.write(key(name, spec));
    const shown = async (name: string) => (await kubernetes().request("GET", keyPath(name))).body as KeyObject;
    const keyPath = (name: string) =>
      `/apis/keyplane.dev/v1alpha1/namespaces/${NAMESPACE}${world.tag}/platformkeys/${name}`;
    for (const name of Object.keys(forbidden)) {
      await until(`${name} is reported`, async () =>
        (await shown(name)).status?.conditions?.some(({ type, reason }) => type === "Ready" && reason === "Invalid"),
      );
      expect(await world.readSecret(name)).toBeUndefined();
    }
    expect((await world.storedKeys()).map(({ name }) => name)).toEqual(["agent"]);
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
  });

  it("c25: a cluster put back in time revives no key that was deleted since, and costs none that was made since its life", async (context) => {
    const world = await startWorld(context, setup(), key("agent"), key("deleted"), key("rotated"));
    const restore = await backUp(context, kubernetes());
    const deleted = await world.plaintextOf("deleted");
    await world.remove(key("deleted"));
    const young = Array.from({ length: 12 }, (_, i) => `young-${i}`);
    const teamNamed = (displayName: string) => team("team-a", [NAMESPACE], { displayName });
    await world.declare(
      teamNamed("Later"),
      key("rotated", { rotation: { trigger: "next" } }),
      ...young.map((name) => key(name)),
    );
    const kept = await Promise.all(["agent", "rotated", ...young].map((name) => world.plaintextOf(name)));
    const decisions = () => kept.map((plaintext) => world.decide(plaintext));
    const allAllowed = kept.map(() => "allowed");
    expect(decisions()).toEqual(allAllowed);

    await restore();
    await until("the past is seen", () => world.get("PlatformKey", "deleted"));
    await until("the deleted one is reported as revoked", () =>
      world.condition("Ready", "deleted")?.endsWith("Revoked"),
    );
    for (let round = 0; round < 3; round++) await world.collectGarbage();
    expect(world.lines.some((line) => line.startsWith("garbage collection is paused"))).toBe(true);
    expect(world.decide(deleted)).toBe("unauthorized");
    expect(decisions()).toEqual(allAllowed);

    const isTooOld = () => world.condition("Ready", "rotated") === "False/Outdated";
    await until("the declaration that is too old says so", isTooOld);
    const found = await findAfterRestore(world.cluster(), world.store.db);
    const wrong = found.filter(({ severity }) => severity === "error").map(({ message }) => message);
    expect(wrong).toContainEqual(
      expect.stringMatching(/\/deleted was gone before the restore, and its key stays revoked/),
    );
    expect(wrong).toContainEqual(
      expect.stringMatching(/\/rotated: Generation \d+ of this declaration has been applied, and the cluster shows/),
    );
    await world.declare(key("rotated", { rotation: { trigger: "after the restore" } }));
    expect(world.condition("Ready", "rotated")).toBe("True/Ready");
    const isTeamTooOld = () => world.condition("Accepted", "team-a", "PlatformTeam") === "False/Outdated";
    await until("the team's too, which a watch of its own reports", isTeamTooOld);
    await world.declare(teamNamed("After the restore"));
    expect(world.condition("Accepted", "team-a", "PlatformTeam")).toBe("True/Claimed");
    expect(world.decide(await world.plaintextOf("rotated"))).toBe("allowed");
  });
});

type KeyObject = { readonly status?: { readonly conditions?: { readonly type: string; readonly reason: string }[] } };
