import { describe, expect, it, type TestContext } from "vitest";
import { FINALIZER, type SecretDraft, type SecretOwner } from "../../../../controller/cluster/port.ts";
import { PREFERRED_API_VERSION } from "../../../../domain/kinds/kinds.ts";
import type { Kubernetes } from "../../../env/kubernetes/client.ts";
import { describeOnKubernetes } from "../../../env/kubernetes/of-run.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { until } from "../../../env/until.ts";
import { applyKey, keyPath, openCluster } from "./opened.ts";

/** What one answer to a list holds at most, and how many keys are listed. */
const [PAGE, COUNT] = [500, 5_000];

const draft = (namespace: string, value: string, owner: SecretDraft["owner"] = null): SecretDraft => ({
  namespace,
  name: "reader",
  data: { "api-key": value },
  labels: { "keyplane.dev/key": "reader" },
  annotations: { "keyplane.dev/key-version": "1" },
  owner,
});

describeOnKubernetes("a Secret", (kubernetes) => {
  describe.concurrent("is written under a precondition:", () => {
    it("c5: one that is there is not overwritten, whatever made it", async (context) => {
      const { cluster, namespace } = await openCluster(context, kubernetes());
      await create(kubernetes(), namespace, { name: "reader" }, { "api-key": "planted" });
      await expect(cluster.createSecret(draft(namespace, "ours"))).rejects.toMatchObject({ code: "AlreadyExists" });
      expect((await cluster.readSecret(namespace, "reader"))?.data).toEqual({ "api-key": "planted" });
    });

    it("reads as it was written, and nothing is where nothing is", async (context) => {
      const { cluster, namespace } = await openCluster(context, kubernetes());
      expect(await cluster.readSecret(namespace, "reader")).toBeUndefined();
      const owner = await ownerIn(kubernetes(), namespace);
      const owned = draft(namespace, "grün\n", owner);
      const created = await cluster.createSecret(owned);
      expect(created).toMatchObject(owned);
      expect(await cluster.readSecret(namespace, "reader")).toEqual(created);
      const annotated = draft(namespace, "grün\n", { ...owner, byReference: false });
      const replaced = await cluster.replaceSecret(created, annotated);
      expect(replaced).toMatchObject(annotated);
      const { metadata } = await object(kubernetes(), `/api/v1/namespaces/${namespace}/secrets/reader`);
      expect(metadata).not.toHaveProperty("ownerReferences");
      expect(metadata.annotations).toMatchObject({ "keyplane.dev/owner-uid": owner.uid });
      const left = await cluster.replaceSecret(replaced, draft(namespace, "grün\n"));
      expect(left).toMatchObject({ owner: null, annotations: { "keyplane.dev/key-version": "1" } });
    });

    it("c16: one that has changed since it was read is not replaced, nor deleted", async (context) => {
      const { cluster, namespace } = await openCluster(context, kubernetes());
      const old = await cluster.createSecret(draft(namespace, "one"));
      const now = await cluster.replaceSecret(old, draft(namespace, "two"));
      await expect(cluster.replaceSecret(old, draft(namespace, "three"))).rejects.toMatchObject({ code: "Conflict" });
      await expect(cluster.deleteSecret(old)).rejects.toMatchObject({ code: "Conflict" });
      expect(await cluster.readSecret(namespace, "reader")).toEqual(now);
    });

    it("c14: one that was deleted and made again is another one", async (context) => {
      const { cluster, namespace } = await openCluster(context, kubernetes());
      const first = await cluster.createSecret(draft(namespace, "one"));
      await cluster.deleteSecret(first);
      await expect(cluster.replaceSecret(first, draft(namespace, "two"))).rejects.toMatchObject({ code: "NotFound" });
      const second = await cluster.createSecret(draft(namespace, "two"));
      await expect(cluster.replaceSecret(first, draft(namespace, "three"))).rejects.toMatchObject({ code: "Conflict" });
      await cluster.deleteSecret(first);
      expect(await cluster.readSecret(namespace, "reader")).toEqual(second);
      await cluster.deleteSecret(second);
      await cluster.deleteSecret(second);
      expect(await cluster.readSecret(namespace, "reader")).toBeUndefined();
    });

    it("keeps what others have added to it", async (context) => {
      const { cluster, namespace } = await openCluster(context, kubernetes());
      const owner = await ownerIn(kubernetes(), namespace);
      const other = await ownerIn(kubernetes(), namespace, "other");
      await cluster.createSecret(draft(namespace, "one", owner));
      const theirs = {
        labels: { team: "blue" },
        annotations: { note: "kept" },
        finalizers: ["example.com/theirs"],
        ownerReferences: [{ ...reference(other) }, { ...reference(owner), controller: true }],
      };
      await patch(kubernetes(), `/api/v1/namespaces/${namespace}/secrets/reader`, { metadata: theirs });
      const read = (await cluster.readSecret(namespace, "reader")) ?? expect.fail("it is gone");
      expect(read.owner).toEqual(owner);
      await cluster.replaceSecret(read, draft(namespace, "two", owner));
      const { metadata } = await object(kubernetes(), `/api/v1/namespaces/${namespace}/secrets/reader`);
      expect(metadata).toMatchObject({
        labels: { team: "blue", "keyplane.dev/key": "reader" },
        annotations: { note: "kept" },
        finalizers: ["example.com/theirs"],
      });
      expect(metadata.ownerReferences).toHaveLength(2);
      await patch(kubernetes(), `/api/v1/namespaces/${namespace}/secrets/reader`, { metadata: { finalizers: null } });
    });

    it("is forbidden to who has no right to it, and says which right that is", async (context) => {
      const { token } = await serviceAccountWithoutSecrets(kubernetes());
      const { cluster, namespace } = await openCluster(context, kubernetes(), { token });
      const failed = cluster.createSecret(draft(namespace, "inf_never-shown"));
      await expect(failed).rejects.toMatchObject({
        code: "Forbidden",
        message: expect.stringContaining("cannot create"),
      });
      await expect(cluster.readSecret(namespace, "reader")).rejects.toMatchObject({ code: "Forbidden" });
    });
  });
});

describeOnKubernetes("a declaration", (kubernetes) => {
  describe.concurrent("is heard of and written to:", () => {
    it("is announced when it comes, changes and goes, and is there as declared, with defaults", async (context) => {
      const { cluster, namespace, changes, watch } = await openCluster(context, kubernetes());
      await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadOnly" });
      await watch();
      expect(changes).toEqual(["PlatformKey reader"]);
      const found = cluster.get("PlatformKey", namespace, "reader") ?? expect.fail("it is not there");
      expect(found).toMatchObject({
        generation: 1,
        deleting: false,
        finalizers: [],
        status: { observedGeneration: -1 },
      });
      expect(found.spec).toMatchObject({ preset: "MCPReadOnly", state: "Active", deletionPolicy: "Revoke" });
      expect(found).not.toHaveProperty("managedFields");
      await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadWrite" });
      await until("the change is heard of", () => cluster.get("PlatformKey", namespace, "reader")?.generation === 2);
      await kubernetes().request("DELETE", keyPath(namespace, "reader"));
      await until("it is gone", () => cluster.list("PlatformKey").length === 0);
      expect(changes).toEqual(Array(3).fill("PlatformKey reader"));
    });

    it("takes a status once: it is read back at once, is no news, and is not written twice", async (context) => {
      const { cluster, namespace, changes, answers, watch } = await openCluster(context, kubernetes());
      await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadOnly" });
      await watch();
      const found = cluster.get("PlatformKey", namespace, "reader") ?? expect.fail("it is not there");
      const status = { observedGeneration: 1, keyID: "key_1", team: "t" };
      await cluster.addFinalizer(found);
      await cluster.writeStatus(found, status);
      expect(cluster.get("PlatformKey", namespace, "reader")).toMatchObject({ status, finalizers: [FINALIZER] });
      const before = answers.length;
      await cluster.writeStatus(found, status);
      await cluster.addFinalizer(found);
      expect(answers.length).toBe(before);
      await cluster.writeStatus(found, { observedGeneration: 1 });
      expect((await object(kubernetes(), keyPath(namespace, "reader"))).status).toEqual({ observedGeneration: 1 });
      await applyKey(kubernetes(), namespace, "other", { preset: "MCPReadOnly" });
      await until("what came after is heard of", () => changes.includes("PlatformKey other"));
      expect(changes).toEqual(["PlatformKey reader", "PlatformKey other"]);
    });

    it("c8: a status that was outrun is written on the fresh object", async (context) => {
      const { cluster, namespace, watch } = await openCluster(context, kubernetes());
      await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadOnly" });
      await watch();
      const found = cluster.get("PlatformKey", namespace, "reader") ?? expect.fail("it is not there");
      for (let i = 1; i <= 20; i++) {
        await patch(kubernetes(), keyPath(namespace, "reader"), { metadata: { annotations: { n: String(i) } } });
        await cluster.writeStatus(found, { observedGeneration: i });
      }
      const { metadata, status } = await object(kubernetes(), keyPath(namespace, "reader"));
      expect(metadata).toMatchObject({ generation: 1, annotations: { n: "20" } });
      expect(status).toEqual({ observedGeneration: 20 });
    });

    it("b70: a status that another writer wrote is announced", async (context) => {
      const { cluster, namespace, changes, watch } = await openCluster(context, kubernetes());
      await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadOnly" });
      await watch();
      await patch(kubernetes(), `${keyPath(namespace, "reader")}/status`, { status: { team: "another" } });
      await until("it is announced", () => changes.length === 2);
      expect(cluster.get("PlatformKey", namespace, "reader")?.status).toMatchObject({ team: "another" });
    });

    it("is held by the finalizer, and goes with it at once", async (context) => {
      const { cluster, namespace, watch } = await openCluster(context, kubernetes());
      await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadOnly" });
      await watch();
      const found = cluster.get("PlatformKey", namespace, "reader") ?? expect.fail("it is not there");
      await cluster.addFinalizer(found);
      await kubernetes().request("DELETE", keyPath(namespace, "reader"));
      const going = await until("it is going", () => {
        const now = cluster.get("PlatformKey", namespace, "reader");
        return now?.deleting === true ? now : undefined;
      });
      await cluster.removeFinalizer(going);
      expect(cluster.get("PlatformKey", namespace, "reader")).toBeUndefined();
      await cluster.removeFinalizer(going);
      await cluster.writeStatus(going, { observedGeneration: 1 });
      await expect(cluster.addFinalizer(going)).rejects.toMatchObject({ code: "NotFound" });
      expect((await kubernetes().request("GET", keyPath(namespace, "reader"))).status).toBe(404);
    });

    it("c14: made again by its name, it is another one, and the old one's writes do not reach it", async (context) => {
      const { cluster, namespace, watch } = await openCluster(context, kubernetes());
      await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadOnly" });
      await watch();
      const first = cluster.get("PlatformKey", namespace, "reader") ?? expect.fail("it is not there");
      await kubernetes().request("DELETE", keyPath(namespace, "reader"));
      await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadOnly" });
      await cluster.writeStatus(first, { keyID: "of-the-first" });
      await until("the second is heard of", () => {
        const now = cluster.get("PlatformKey", namespace, "reader");
        return now !== undefined && now.uid !== first.uid;
      });
      await cluster.writeStatus(first, { keyID: "of-the-first" });
      expect((await object(kubernetes(), keyPath(namespace, "reader"))).status).not.toHaveProperty("keyID");
    });

    it("has its events, and restarts workloads once for each version", async (context) => {
      const { cluster, namespace, watch } = await openCluster(context, kubernetes());
      await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadOnly" });
      await watch();
      const found = cluster.get("PlatformKey", namespace, "reader") ?? expect.fail("it is not there");
      await cluster.recordEvent(found, { type: "Normal", reason: "Issued", message: "Version 1 is delivered." });
      const described = await kubernetes().kubectl(["describe", "platformkey", "reader", "--namespace", namespace]);
      expect(described).toMatch(/Normal\s+Issued\s.*Version 1 is delivered\./);

      const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
      await kubernetes().request("POST", path, { body: JSON.stringify(deployment("agent")) });
      const annotation = { name: "keyplane.dev/key-version.reader", value: "2" };
      const restart = (name: string) => cluster.restartWorkload(namespace, { kind: "Deployment", name }, annotation);
      await restart("agent");
      const { metadata, spec } = await object(kubernetes(), `${path}/agent`);
      expect(spec.template.metadata.annotations).toEqual({ [annotation.name]: "2" });
      await restart("agent");
      expect((await object(kubernetes(), `${path}/agent`)).metadata.generation).toBe(metadata.generation);
      await expect(restart("missing")).rejects.toMatchObject({ code: "NotFound" });
    });

    it("rolls a workload out once for all that ask for it together, and each learns what became of it", async (context) => {
      const { cluster, namespace } = await openCluster(context, kubernetes());
      const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
      await kubernetes().request("POST", path, { body: JSON.stringify(deployment("agent")) });
      const { metadata: before } = await object(kubernetes(), `${path}/agent`);
      const names = Array.from({ length: 10 }, (_, index) => `keyplane.dev/key-version.${index}`);
      const restartAll = (name: string) =>
        names.map((annotation) =>
          cluster.restartWorkload(namespace, { kind: "Deployment", name }, { name: annotation, value: "2" }),
        );
      const missing = Promise.allSettled(restartAll("missing"));
      await Promise.all(restartAll("agent"));
      const { metadata, spec } = await object(kubernetes(), `${path}/agent`);
      expect(Number(metadata.generation) - Number(before.generation)).toBe(1);
      expect(spec.template.metadata.annotations).toEqual(Object.fromEntries(names.map((name) => [name, "2"])));
      const outcomes = await missing;
      expect(outcomes.map((one) => one.status === "rejected" && one.reason.code)).toEqual(names.map(() => "NotFound"));
    });

    it("waits for no more restarts once it is closed", async (context) => {
      const { cluster, namespace, answers } = await openCluster(context, kubernetes());
      const annotation = { name: "keyplane.dev/key-version.reader", value: "2" };
      const restarting = cluster.restartWorkload(namespace, { kind: "Deployment", name: "agent" }, annotation);
      await Promise.all([expect(restarting).rejects.toThrow("restarting Deployment"), cluster.close()]);
      expect(answers.filter((answer) => answer.startsWith("PATCH"))).toEqual([]);
    });
  });
});

describeOnKubernetes("Secrets that matter", (kubernetes) => {
  describe.concurrent("are watched without their data:", () => {
    it("announces one that was edited or deleted by another, and no write of our own", async (context) => {
      const { cluster, namespace, changes, watch } = await openCluster(context, kubernetes());
      await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadOnly" });
      await watch();
      expect(await cluster.readSecret(namespace, "reader")).toBeUndefined();
      const created = await cluster.createSecret(draft(namespace, "one"));
      await cluster.replaceSecret(created, draft(namespace, "two"));
      await create(kubernetes(), namespace, { name: "unrelated" }, { a: "b" });
      const path = `/api/v1/namespaces/${namespace}/secrets/reader`;
      await patch(kubernetes(), path, { data: { "api-key": "ZWRpdGVk" } });
      await until("the edit is announced", () => changes.includes("Secret reader"));
      await cluster.readSecret(namespace, "reader");
      await kubernetes().request("DELETE", path);
      await until("the deletion is announced", () => changes.filter((one) => one === "Secret reader").length === 2);
      expect(changes).toEqual(["PlatformKey reader", "Secret reader", "Secret reader"]);
    });

    it("begins with a namespace's first key and ends with its last", async (context) => {
      const { cluster, namespace, watch } = await openCluster(context, kubernetes());
      await watch();
      const watched = () => [...cluster.heardAt.keys()].filter((what) => what.includes("Secrets"));
      expect(watched()).toEqual([]);
      await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadOnly" });
      await until("the Secrets are watched", () => watched().length === 1);
      await kubernetes().request("DELETE", keyPath(namespace, "reader"));
      await until("they are not watched any more", () => watched().length === 0);
    });

    it("goes on without where a namespace's Secrets are closed to it", async (context) => {
      const { token } = await serviceAccountWithoutSecrets(kubernetes());
      const { cluster, namespace, lines, watch } = await openCluster(context, kubernetes(), { token });
      await applyKey(kubernetes(), namespace, "reader", { preset: "MCPReadOnly" });
      await watch();
      await until("it is said", () => lines.some((line) => line.includes("cannot list resource")));
      await applyKey(kubernetes(), namespace, "second", { preset: "MCPReadOnly" });
      await until("keys are heard of all the same", () => cluster.list("PlatformKey").length === 2);
    });
  });
});

// By day control-plane.cluster.test.ts has a list of two pages.
const describeAtNight = NIGHTLY ? describeOnKubernetes : () => {};
describeAtNight("many declarations", (kubernetes) => {
  it(`c20: ${COUNT} keys are listed in pages`, async (context: TestContext) => {
    const { cluster, namespace, answers, watch } = await openCluster(context, kubernetes());
    const names = Array.from({ length: COUNT }, (_, i) => `key-${i}`);
    const workers = Array.from({ length: 24 }, async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        await applyKey(kubernetes(), namespace, name, { preset: "MCPReadOnly", secret: { name: "one-for-all" } });
      }
    });
    await Promise.all(workers);
    await watch();
    expect(cluster.list("PlatformKey")).toHaveLength(COUNT);
    expect(answers.filter((one) => one === "GET 200").length).toBeGreaterThanOrEqual(COUNT / PAGE + 4);
  });
});

const deployment = (name: string) => ({
  metadata: { name },
  spec: {
    replicas: 0,
    selector: { matchLabels: { name } },
    template: { metadata: { labels: { name } }, spec: { containers: [{ name, image: "agent" }] } },
  },
});

type AnyObject = {
  readonly metadata: Record<string, unknown>;
  readonly spec: { template: { metadata: { annotations: unknown } } };
  readonly status?: unknown;
};

async function object(kubernetes: Kubernetes, path: string): Promise<AnyObject> {
  return (await kubernetes.request("GET", path)).body as AnyObject;
}

async function patch(kubernetes: Kubernetes, path: string, body: object): Promise<void> {
  const contentType = "application/merge-patch+json";
  const { status, body: answer } = await kubernetes.request("PATCH", path, { body: JSON.stringify(body), contentType });
  if (status !== 200) throw new Error(JSON.stringify(answer));
}

/** A PlatformKey for a Secret to belong to: one whose owner does not exist is garbage. */
async function ownerIn(kubernetes: Kubernetes, namespace: string, name = "reader") {
  await applyKey(kubernetes, namespace, name, { preset: "MCPReadOnly" });
  const { metadata } = await object(kubernetes, keyPath(namespace, name));
  return { apiVersion: PREFERRED_API_VERSION, uid: String(metadata.uid), name, byReference: true };
}

const reference = ({ apiVersion, uid, name }: SecretOwner) => ({ kind: "PlatformKey", apiVersion, uid, name });

async function create(kubernetes: Kubernetes, namespace: string, metadata: object, stringData: object): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  await kubernetes.request("POST", path, { body: JSON.stringify({ metadata, stringData }) });
}

/** Of a ServiceAccount that may do everything with our kinds, and nothing with Secrets. */
async function serviceAccountWithoutSecrets(kubernetes: Kubernetes): Promise<{ token: string }> {
  const name = `sa-${Math.random().toString(36).slice(2, 10)}`;
  const post = (path: string, body: object) => kubernetes.request("POST", path, { body: JSON.stringify(body) });
  await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name } });
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  await post(`${rbac}/clusterroles`, {
    metadata: { name },
    rules: [
      { apiGroups: ["keyplane.dev"], resources: ["*"], verbs: ["*"] },
      { apiGroups: [""], resources: ["namespaces"], resourceNames: ["kube-system"], verbs: ["get"] },
    ],
  });
  await post(`${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name },
    subjects: [{ kind: "ServiceAccount", namespace: "default", name }],
  });
  return { token: await kubernetes.createToken("default", name) };
}
