import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { read } from "../../architecture/sources.ts";
import { accountKubeconfig, type Controller, startController } from "../../env/controller.ts";
import { migratedDatabase } from "../../env/database/engines.ts";
import { createNamespace, inNamespace } from "../../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../../env/kubernetes/lent.ts";
import { keyManifest, LIBRARY, teamManifest } from "../../env/kubernetes/manifests.ts";
import { applyAll } from "../../env/kubernetes/server-side-apply.ts";
import { until } from "../../env/until.ts";
import { doEverything } from "../everything.ts";
import { manifestsIn, openHelm } from "./helm.ts";

/** Has every right, and no exemption. */
const ALICE = ["--as=alice", "--as-group=developers"];
const GUARDIAN = ["--as=bob", "--as-group=guardians"];
const OF_KUBERNETES = ["namespace-controller", "generic-garbage-collector"];
const NO_FINALIZER = '{"metadata":{"finalizers":null}}';
const SETTINGS = [
  ...["admissionPolicies.secrets.enabled=true", "admissionPolicies.protectedNamespaces.exemptGroups={guardians}"],
  // This control plane's controller manager, and the test of the controller's whole life, are `admin`.
  "admissionPolicies.secrets.exemptUsers={admin}",
].flatMap((setting) => ["--set", setting]);

describe("the admission policies, on Kubernetes", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let controller: Controller;
  let home: string;

  const kubectl = (...args: string[]) => kubernetes.kubectl(args);
  const run = (...args: string[]) => kubernetes.runKubectl(args);
  const patch = (what: string, change: string, ...args: string[]) =>
    run("patch", what, "--namespace=dev", "--type=merge", `--patch=${change}`, ...args);
  const isDenied = (policy: string, message: string) => ({
    code: 1,
    stderr: expect.stringMatching(
      new RegExp(`ValidatingAdmissionPolicy 'keyplane-${policy}'.* denied request: ${message}`),
    ),
  });

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    home = await mkdtemp(join(tmpdir(), "keyplane-helm-"));
    await applyAll(kubernetes, read("infra/rbac/controller.yaml"));
    for (const name of ["dev", "life", "doomed"]) {
      await createNamespace(kubernetes, name);
      await applyAll(kubernetes, read("infra/rbac/namespace.yaml"), { namespace: name });
    }
    await kubectl("label", "namespace", "dev", "keyplane.dev/protected=true");
    await kubectl("create", "clusterrolebinding", "all", "--clusterrole=cluster-admin", "--user=alice", "--user=bob");
    const { render } = await openHelm(home);
    const policies = manifestsIn(await render(...SETTINGS)).filter(({ kind }) =>
      kind.startsWith("ValidatingAdmission"),
    );
    expect(policies).toHaveLength(10);
    await applyAll(kubernetes, policies.map((one) => JSON.stringify(one)).join("\n---\n"));
    controller = await startController({
      ...{ kubeconfig: await accountKubeconfig(kubernetes), databaseUrl: database.url },
      encryptionKey: randomBytes(32).toString("base64"),
    });
    const dev = inNamespace(kubernetes, "dev");
    const keys = keyManifest("agent", "deletionProtection: true") + keyManifest("unprotected");
    await dev.apply(teamManifest("dev", "dev") + LIBRARY + keys);
    for (const name of ["agent", "unprotected"]) await dev.ready(name);
    // Policies take effect a moment after they were applied, each for itself.
    const tries: readonly (readonly string[])[] = [
      ["pkey/agent", NO_FINALIZER],
      ["pkey/agent", '{"spec":{"deletionProtection":false}}'],
      ["pkey/agent", '{"status":{"currentVersion":9}}', "--subresource=status"],
      ["mlib/handbook", '{"spec":{"deletionPolicy":"Delete"}}'],
      ["secret/agent", '{"data":null}'],
    ];
    for (const [what = "", change = "", ...args] of tries) {
      const answer = () => patch(what, change, ...args, ...ALICE, "--dry-run=server");
      await until(`${change} is denied`, async () => (await answer()).code === 1);
    }
  });

  afterAll(async () => {
    await controller?.stop();
    await database?.drop();
    await kubernetes?.close();
    await rm(home, { recursive: true, force: true });
  });

  it("let only the controller write a status, whatever rights there are", async () => {
    const status = '{"status":{"currentVersion":9}}';
    for (const [what, user] of [
      ["pkey/agent", ALICE],
      ["pteam/dev", ALICE],
      ["mlib/handbook", GUARDIAN],
      ["pkey/agent", []],
    ] as const) {
      expect(await patch(what, status, "--subresource=status", ...user)).toMatchObject(
        isDenied("status", "only Keyplane's controller writes a status"),
      );
    }
    const own = await kubernetes.request(
      "PATCH",
      `${inNamespace(kubernetes, "dev").path("platformkeys", "agent")}/status`,
      {
        body: "{}",
        contentType: "application/merge-patch+json",
        token: await kubernetes.createToken("keyplane-system", "keyplane-controller"),
      },
    );
    expect(own.status).toBe(200);
    const namesake = "--as=system:serviceaccount:dev:keyplane-controller";
    await kubectl(
      "create",
      "clusterrolebinding",
      "namesake",
      "--clusterrole=cluster-admin",
      "--serviceaccount=dev:keyplane-controller",
    );
    expect(await patch("pkey/agent", status, "--subresource=status", namesake)).toMatchObject({ code: 1 });
  });

  it("let only the controller take its finalizer off, and every user change what else there is", async () => {
    expect(await patch("pkey/agent", NO_FINALIZER, ...ALICE)).toMatchObject(
      isDenied("finalizer", "the finalizer keyplane.dev/finalizer is taken off by Keyplane's controller"),
    );
    expect(await patch("pkey/agent", '{"metadata":{"finalizers":["a.example.com/other"]}}', ...ALICE)).toMatchObject({
      code: 1,
    });
    const more = '{"metadata":{"finalizers":["keyplane.dev/finalizer","a.example.com/other"]}}';
    expect(await patch("pkey/agent", more, ...ALICE)).toMatchObject({ code: 0 });
    // As kubectl replace does, and whatever else sends a manifest in the object's place.
    const replaced = await kubernetes.runKubectl(
      ["replace", "--namespace=dev", "--filename=-", ...ALICE],
      keyManifest("agent", "deletionProtection: true"),
    );
    expect(replaced).toMatchObject({ code: 1, stderr: expect.stringContaining("send the finalizer along") });
    const back =
      '{"metadata":{"finalizers":["keyplane.dev/finalizer"],"labels":{"seen":"yes"}},"spec":{"displayName":"Agent"}}';
    expect(await patch("pkey/agent", back, ...ALICE)).toMatchObject({ code: 0 });
  });

  it("keep the Secret of a key from everybody but controllers, and no other Secret", async () => {
    const denied = isDenied(
      "secrets",
      "this Secret belongs to PlatformKey agent: for another key run keyplane rotate dev/agent",
    );
    expect(await patch("secret/agent", '{"data":null}', ...ALICE)).toMatchObject(denied);
    expect(await patch("secret/agent", '{"metadata":{"labels":{"keyplane.dev/key":null}}}', ...ALICE)).toMatchObject(
      denied,
    );
    // As an operator who changes the key that etcd is encrypted with writes every Secret once more.
    const whole = await kubectl("get", "secret", "agent", "--namespace=dev", "--output=json");
    const rewrite = (text: string) => kubernetes.runKubectl(["replace", "--filename=-", ...ALICE], text);
    expect(await rewrite(whole)).toMatchObject({ code: 0 });
    for (const change of [
      { data: { more: "" } },
      { immutable: true },
      { metadata: { finalizers: ["a.example.com/other"] } },
      ...["labels", "annotations"].map((part) => ({ metadata: { [part]: null } })),
      { metadata: { ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "other", uid: "other" }] } },
    ]) {
      expect(await patch("secret/agent", JSON.stringify(change), ...ALICE)).toMatchObject(denied);
    }
    const remove = (name: string, ...args: string[]) =>
      run("delete", "secret", name, "--namespace=dev", "--wait=false", ...args);
    expect(await remove("agent", ...GUARDIAN)).toMatchObject(denied);
    for (const name of OF_KUBERNETES) {
      const account = `kube-system:${name}`;
      await kubectl("create", "clusterrolebinding", name, "--clusterrole=cluster-admin", `--serviceaccount=${account}`);
      const as = `--as=system:serviceaccount:${account}`;
      expect(await remove("agent", as, "--dry-run=server")).toMatchObject({ code: 0 });
    }
    // The Secret of a key that is not protected has an owner reference in place of the annotation.
    expect(await patch("secret/unprotected", '{"metadata":{"ownerReferences":null}}', ...ALICE)).toMatchObject(
      isDenied("secrets", "this Secret belongs to PlatformKey unprotected"),
    );
    await kubectl("create", "secret", "generic", "others", "--namespace=dev", "--from-literal=a=b");
    await kubectl("label", "secret", "others", "--namespace=dev", "keyplane.dev/key=agent");
    expect(await patch("secret/others", '{"data":null}', ...ALICE)).toMatchObject({ code: 0 });
    expect(await remove("others", ...ALICE)).toMatchObject({ code: 0 });
  });

  it("have only those who may lift a key's deletionProtection where the namespace is protected", async () => {
    const lift = '{"spec":{"deletionProtection":false}}';
    const denied = isDenied("protected-keys", "this namespace is protected");
    expect(await patch("pkey/agent", lift, ...ALICE)).toMatchObject(denied);
    expect(await patch("pkey/agent", '{"spec":{"deletionProtection":null}}', ...ALICE)).toMatchObject(denied);
    expect(await patch("pkey/agent", lift, ...GUARDIAN)).toMatchObject({ code: 0 });
    expect(await patch("pkey/agent", '{"spec":{"deletionProtection":true}}', ...ALICE)).toMatchObject({ code: 0 });
    await kubectl("label", "namespace", "dev", "keyplane.dev/protected-");
    await until(
      "the namespace is not protected",
      async () => (await patch("pkey/agent", lift, ...ALICE, "--dry-run=server")).code === 0,
    );
    await kubectl("label", "namespace", "dev", "keyplane.dev/protected=true");
    await until("it is again", async () => (await patch("pkey/agent", lift, ...ALICE, "--dry-run=server")).code === 1);
  });

  it("have only those who may declare that a library's atoms go with it where the namespace is protected", async () => {
    const drop = '{"spec":{"deletionPolicy":"Delete"}}';
    const denied = isDenied("protected-libraries", "this namespace is protected");
    expect(await patch("mlib/handbook", drop, ...ALICE)).toMatchObject(denied);
    const another = LIBRARY.replace("handbook", "another").replace("spec: {}", "spec: { deletionPolicy: Delete }");
    const create = (...args: string[]) =>
      kubernetes.runKubectl(["apply", "--filename=-", "--dry-run=server", ...args], another);
    expect(await create("--namespace=dev", ...ALICE)).toMatchObject(denied);
    expect(await create("--namespace=life", ...ALICE)).toMatchObject({ code: 0 });
    expect(await patch("mlib/handbook", drop, ...GUARDIAN)).toMatchObject({ code: 0 });
    // What is so already may be changed otherwise.
    expect(await patch("mlib/handbook", '{"spec":{"displayName":"Handbook"}}', ...ALICE)).toMatchObject({ code: 0 });
  });

  it("hold up nothing that the controller does in the whole life of a namespace", async () => {
    await doEverything(kubernetes, "life", (_, change) => change());
    const doomed = inNamespace(kubernetes, "doomed");
    await doomed.apply(teamManifest("doomed", "doomed") + keyManifest("reader"));
    await doomed.ready("reader");
    await kubectl("delete", "namespace", "doomed", "--timeout=120s");
    expect(controller.lines.filter((line) => line.includes("ValidatingAdmissionPolicy"))).toEqual([]);
  });
});
