/**
 * `keyplane controller` as its users see it: a real API server with garbage collection, a real PostgreSQL, kubectl. The
 * control plane is this file's own, since a team belongs to the whole cluster.
 */
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Cluster } from "../../../../controller/cluster/port.ts";
import { collectGarbage, type SuspectsByKind } from "../../../../controller/garbage-collection.ts";
import type { KeyDeps } from "../../../../controller/key/key-deps.ts";
import { keyDigest } from "../../../../domain/key/secret/key-format.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../../store/database/store.ts";
import { listKeys } from "../../../../store/keys/search/key-lists.ts";
import {
  type Controller,
  type ControllerProcess,
  startController,
  startControllerProcess,
} from "../../../env/controller.ts";
import { migratedDatabase } from "../../../env/database/engines.ts";
import { startApiProxy } from "../../../env/kubernetes/api-proxy.ts";
import { createNamespace, inNamespace } from "../../../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../../../env/kubernetes/lent.ts";
import { applyAll } from "../../../env/kubernetes/server-side-apply.ts";
import { undocumentedMetrics } from "../../../env/metrics.ts";
import { until } from "../../../env/until.ts";
import { findKeyByOwner } from "../../../store/questions.ts";

const TEAM = `
apiVersion: keyplane.dev/v1alpha1
kind: PlatformTeam
metadata: { name: research }
spec: { namespaces: [dev, prod] }
`;
const key = (name: string, namespace = "dev", spec = "{ preset: MCPReadOnly }") => `
---
apiVersion: keyplane.dev/v1alpha1
kind: PlatformKey
metadata: { name: ${name}, namespace: ${namespace} }
spec: ${spec}
`;

describe("keyplane controller on Kubernetes", () => {
  let kubernetes: LentKubernetes;
  let store: Store;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let controller: Controller | ControllerProcess;
  const encryptionKey = randomBytes(32).toString("base64");

  const optionsAt = (kubeconfig: string, ...flags: string[]) => ({
    ...{ kubeconfig, databaseUrl: database.url, encryptionKey, flags },
  });
  const startAt = (kubeconfig: string, ...flags: string[]) => startController(optionsAt(kubeconfig, ...flags));
  const start = (...flags: string[]) => startAt(kubernetes.kubeconfigPath, ...flags);

  const kubectl = (...args: string[]) => kubernetes.kubectl(args);

  const apply = (manifests: string) => applyAll(kubernetes, manifests);

  const ready = (name: string, namespace = "dev") => inNamespace(kubernetes, namespace).ready(name);

  const read = (plural: Plural, name: string, namespace = "dev"): Promise<AnyObject | undefined> =>
    inNamespace(kubernetes, namespace).read(
      plural === "namespaces"
        ? `${GROUPS[plural]}/namespaces/${name}`
        : `${GROUPS[plural]}/namespaces/${namespace}/${plural}/${name}`,
    );

  async function plaintextOf(secret: string): Promise<string> {
    const data = (await read("secrets", secret))?.data?.["api-key"] ?? expect.fail(`no Secret ${secret}`);
    return Buffer.from(data, "base64").toString();
  }

  async function stored(uid: string) {
    const cluster = String((await read("namespaces", "kube-system"))?.metadata.uid);
    return (await findKeyByOwner(store.db, cluster, uid)) ?? expect.fail("no key is stored");
  }

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    store = await openPostgres(database.url);
    for (const name of ["dev", "prod"]) await createNamespace(kubernetes, name);
    controller = await startControllerProcess(optionsAt(kubernetes.kubeconfigPath));
  });

  afterAll(async () => {
    await controller?.stop();
    await store?.close();
    await database?.drop();
    await kubernetes?.close();
  });

  it("brings a key that is applied to Ready, with its Secret, and kubectl can wait for it", async () => {
    await apply(TEAM + key("reader"));
    await kubectl("wait", "--for=condition=Ready", "platformkey/reader", "--namespace", "dev", "--timeout=30s");
    const { metadata, status } = (await read("platformkeys", "reader")) ?? expect.fail("it is gone");
    const secret = (await read("secrets", "reader")) ?? expect.fail("no Secret");
    expect(secret.metadata).toMatchObject({
      labels: { "keyplane.dev/key": "reader" },
      annotations: { "keyplane.dev/key-id": status?.keyID, "keyplane.dev/key-version": "1" },
      ownerReferences: [{ kind: "PlatformKey", name: "reader", uid: metadata.uid }],
    });
    const { versions } = await stored(metadata.uid);
    expect(versions.map(({ digest, state }) => [digest, state])).toEqual([
      [keyDigest(await plaintextOf("reader")), "active"],
    ]);
    expect(await kubectl("get", "platformkeys", "--namespace", "dev")).toMatch(/reader\s+True\s+Ready\s+inf_/);
    expect(await kubectl("describe", "platformkey", "reader", "--namespace", "dev")).toMatch(/Normal\s+Issued/);
  });

  it("gives a deleted Secret back with a new key, and the old one keeps working", async () => {
    const before = await plaintextOf("reader");
    const { drop, secretPath } = inNamespace(kubernetes, "dev");
    await drop(secretPath("reader"));
    const after = await until("the Secret is back", () => plaintextOf("reader"));
    expect(after).not.toBe(before);
    const uid = (await read("platformkeys", "reader"))?.metadata.uid ?? "";
    await until("the new one is active", async () => {
      const states = (await stored(uid)).versions.map(({ digest, state }) => [digest, state]);
      return (
        JSON.stringify(states) ===
        JSON.stringify([
          [keyDigest(after), "active"],
          [keyDigest(before), "retiring"],
        ])
      );
    });
  });

  it("writes nothing when it starts again, and gives its lease back when it ends", async () => {
    await ready("reader");
    expect(await metric("keyplane_confirmation_seconds_count")).toBeGreaterThan(0);
    expect(await controller.stop()).toBe(0);
    const lease = await kubectl("get", "lease", "keyplane-controller", "--output", "jsonpath={.spec.holderIdentity}");
    expect(lease).toBe("");
    const versions = () =>
      kubectl(
        "get",
        "platformkeys,platformteams,secrets",
        "--all-namespaces",
        "--output",
        "jsonpath={.items[*].metadata.resourceVersion}",
      );
    const before = await versions();
    controller = await start();
    await until("it has looked at everything", async () => (await metric("controller_runtime_reconcile_total")) >= 2);
    expect(await metric("keyplane_watch_age_seconds")).toBeLessThan(30);
    expect(undocumentedMetrics(await metrics())).toEqual([]);
    expect(await versions()).toBe(before);
    expect(controller.lines.filter((line) => / error /.test(line))).toEqual([]);
  });

  it("revokes a key before its declaration goes, and removes its Secret", async () => {
    await apply(key("doomed"));
    await ready("doomed");
    const uid = (await read("platformkeys", "doomed"))?.metadata.uid ?? "";
    await kubectl("delete", "platformkey", "doomed", "--namespace", "dev", "--timeout=20s");
    expect((await stored(uid)).revocation).toMatchObject({ reason: "Deleted" });
    await until("the Secret is gone", async () => (await read("secrets", "doomed")) === undefined);
  });

  it("revokes the keys of a namespace that is deleted, which does not hold it up", async () => {
    await apply(key("gone", "prod"));
    await ready("gone", "prod");
    const uid = (await read("platformkeys", "gone", "prod"))?.metadata.uid ?? "";
    await kubectl("delete", "namespace", "prod", "--timeout=40s");
    expect((await stored(uid)).revocation).toMatchObject({ reason: "Deleted" });
  });

  it("says what is wrong with a key, and puts it right when its cause has gone", async () => {
    await apply(PLANTED + key("taken"));
    const reason = async () =>
      (await read("platformkeys", "taken"))?.status?.conditions?.find(({ type }) => type === "Ready")?.reason;
    await until("the conflict is reported", async () => (await reason()) === "SecretConflict");
    const { drop, secretPath } = inNamespace(kubernetes, "dev");
    await drop(secretPath("taken"));
    await ready("taken");
  });

  it("rolls a workload out once for all of its keys that rotate together", async () => {
    const names = Array.from({ length: 10 }, (_, index) => `member-${index}`);
    const targets = "restartTargets: [{ kind: Deployment, name: app }]";
    const declare = (trigger: string) =>
      apply(
        names
          .map((name) => key(name, "dev", `{ preset: MCPReadOnly, rotation: { trigger: ${trigger} }, ${targets} }`))
          .join(""),
      );
    await apply(DEPLOYMENT);
    await declare("one");
    for (const name of names) await ready(name);
    const before = (await read("deployments", "app")) ?? expect.fail("it is gone");
    await declare("two");
    await until("all are restarted", async () => {
      const keys = await Promise.all(names.map((name) => read("platformkeys", name)));
      return keys.every((found) => found?.status?.restartedVersion === 2);
    });
    const { metadata, spec } = (await read("deployments", "app")) ?? expect.fail("it is gone");
    // Once where all have rotated within a second, as the cluster's own test has it: this machine may take longer.
    expect(metadata.generation - before.metadata.generation).toBeLessThan(names.length);
    const keys = await Promise.all(names.map((name) => read("platformkeys", name)));
    expect(spec?.template?.metadata.annotations).toEqual(
      Object.fromEntries(
        names.map((name, index) => {
          const { keyID, keyPrefix } = keys[index]?.status ?? {};
          return [`version.keyplane.dev/${name}`, `${keyID}.2.${keyPrefix}`];
        }),
      ),
    );
  });

  it("b74: no key is in the log, in an object, or in an event", async () => {
    const everything = await kubectl(
      "get",
      "platformkeys,platformteams,events",
      "--all-namespaces",
      "--output",
      "json",
      "--show-managed-fields",
    );
    const plaintexts = await Promise.all(["reader", "taken"].map(plaintextOf));
    for (const plaintext of plaintexts) {
      expect(everything.includes(plaintext.slice(12))).toBe(false);
      expect(controller.lines.join("\n").includes(plaintext.slice(12))).toBe(false);
    }
  });

  it("with namespaces of its own, serves them alone and judges no key of another", async () => {
    await createNamespace(kubernetes, "elsewhere");
    // One that serves every namespace would be deposed, as it serves this one, too (threats c72).
    expect(await controller.stop()).toBe(0);
    controller = await start("--namespaces", "dev");
    const other = await start("--namespaces", "elsewhere");
    await until("both lead", () => other.lines.some((line) => line.includes("leads")));
    const before = (await listKeys(store.db, { limit: 100 })).filter(({ state }) => state !== "revoked").length;
    await apply(key("second"));
    await ready("second");
    const now = (await listKeys(store.db, { limit: 100 })).filter(({ state }) => state !== "revoked").length;
    expect(now).toBe(before + 1);
    expect(await other.stop()).toBe(0);

    const uid = String((await read("namespaces", "kube-system"))?.metadata.uid);
    await sql`update keys set created_at = created_at - interval '1 hour'`.execute(store.db);
    /** How many keys garbage collection that sees no declaration at all would look at a second time. */
    const suspects = async (namespaces: string[] | null) => {
      const blind = { uid, listedNamespaces: () => namespaces, uids: () => [], lookUp: async () => "unknown" };
      const deps = { cluster: blind as unknown as Cluster, store } as unknown as KeyDeps;
      const found: SuspectsByKind = new Map();
      await collectGarbage(deps, found, () => 0, new AbortController().signal);
      return found.get("PlatformKey")?.size ?? 0;
    };
    expect(await suspects(["elsewhere"])).toBe(0);
    expect(await suspects(null)).toBe(now);
  });

  it("c48: is not ready and says so while another cluster answers, and is again when its own does", async (context) => {
    const api = await startApiProxy(kubernetes);
    context.onTestFinished(() => api.close());
    const mirrored = await startAt(api.kubeconfigPath, "--namespaces", "mirrored");
    await until("it leads", () => mirrored.lines.some((line) => line.includes("leads")));
    const readiness = async () => (await fetch(`${mirrored.url}/readyz`)).status;
    await until("it is ready", async () => (await readiness()) === 200);
    const another = { kind: "Namespace", metadata: { name: "kube-system", uid: "another" } };
    const forget = api.rule(({ path }) =>
      path.endsWith("/namespaces/kube-system") ? { do: "answer", status: 200, body: another } : undefined,
    );
    api.cutAll();
    await until("it is not ready", async () => (await readiness()) === 503);
    const says = (line: string) => / error {1,2}the API server is another cluster's/.test(line);
    await until("it says so, as an error", () => mirrored.lines.some(says));
    forget();
    await until("it is ready again", async () => (await readiness()) === 200);
    expect(await mirrored.stop()).toBe(0);
  });

  it("is not ready while it can neither have its Lease nor see whose it is, and is again when it can", async (context) => {
    const api = await startApiProxy(kubernetes);
    context.onTestFinished(() => api.close());
    const refuse = () =>
      api.rule(({ path }) =>
        path.includes("/leases")
          ? { do: "answer", status: 403, body: { kind: "Status", status: "Failure", code: 403, reason: "Forbidden" } }
          : undefined,
      );
    const forget = refuse();
    const barred = await startAt(api.kubeconfigPath, "--namespaces", "barred");
    const readiness = async () => (await fetch(`${barred.url}/readyz`)).status;
    await until("it was refused", () => barred.lines.some((line) => line.includes("while renewing the lease")));
    expect(await readiness()).toBe(503);
    forget();
    await until("it is ready", async () => (await readiness()) === 200);
    await until("it leads", () => barred.lines.some((line) => line.includes("leads")));
    refuse();
    await until("it is not ready", async () => (await readiness()) === 503);
    await barred.stop();
  });

  const metrics = async () => (await fetch(`${controller.url}/metrics`)).text();

  async function metric(name: string): Promise<number> {
    const values = (await metrics()).split("\n").filter((line) => line.startsWith(name));
    return Math.max(...values.map((line) => Number(line.slice(line.lastIndexOf(" ")))));
  }
});

const PLANTED = `
apiVersion: v1
kind: Secret
metadata: { name: taken, namespace: dev }
stringData: { api-key: planted }
`;

const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: app, namespace: dev }
spec:
  replicas: 0
  selector: { matchLabels: { app: app } }
  template:
    metadata: { labels: { app: app } }
    spec: { containers: [{ name: app, image: app }] }
`;

/** Where an API server has what is read here. */
const GROUPS = {
  ...{ namespaces: "/api/v1", secrets: "/api/v1", deployments: "/apis/apps/v1" },
  platformkeys: "/apis/keyplane.dev/v1alpha1",
} as const;
type Plural = keyof typeof GROUPS;

type AnyObject = {
  readonly metadata: { readonly uid: string; readonly generation: number } & Record<string, unknown>;
  readonly spec?: { readonly template?: { readonly metadata: { readonly annotations?: Record<string, string> } } };
  readonly status?: {
    readonly keyID?: string;
    readonly keyPrefix?: string;
    readonly restartedVersion?: number;
    readonly conditions?: { type: string; reason: string }[];
  };
  readonly data?: Record<string, string>;
};
