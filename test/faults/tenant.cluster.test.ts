/** What people with rights of their own in a namespace can do to what is ours in it, on a real API server. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it, type TestContext } from "vitest";
import { findAfterRestore } from "../../cli/doctor/after-restore.ts";
import { FINALIZER } from "../../controller/cluster/port.ts";
import { describeWorldsOnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { type KubernetesSide, makeKubernetesSide } from "../controller/fixtures/kubernetes-side.ts";
import type { ManifestName, Shift } from "../controller/fixtures/side.ts";
import { key, library, type Manifest, NAMESPACE, startWorld, team, type World } from "../controller/fixtures/world.ts";
import { until } from "../env/until.ts";

const SECRET = { kind: "Secret", name: "agent" } as const;
const provider: Manifest = { kind: "Secret", name: "provider", stringData: { "api-key": "sk-provider" } };

function gateway(name: string, publicID: string): Manifest {
  const upstream = { name: "openai", dialect: "openai", baseURL: "https://api.example.com" };
  const upstreams = [{ ...upstream, credentialRef: { name: "provider", key: "api-key" } }];
  return { kind: "ModelGateway", name, spec: { publicID, upstreams } };
}

describeWorldsOnKubernetes("a tenant", (setup, kubernetes) => {
  /** A world of these manifests, on its side. */
  async function start(context: TestContext, namespaces: readonly string[], ...manifests: Manifest[]) {
    return startAs(context, { namespaces }, async () => {}, ...manifests);
  }

  async function startAs(
    context: TestContext,
    options: NonNullable<Parameters<typeof makeKubernetesSide>[2]>,
    prepare: (side: KubernetesSide) => Promise<void>,
    ...manifests: Manifest[]
  ) {
    let made: KubernetesSide | undefined;
    const own = {
      ...setup(),
      async side(shift: Shift) {
        made = await makeKubernetesSide(kubernetes(), shift, options);
        await prepare(made);
        return made;
      },
    };
    const world = await startWorld(context, own, ...manifests);
    return { world, side: made ?? expect.fail("the world has no side") };
  }

  const ready = (world: World, reason: string, name = "agent") =>
    until(`${name} is ${reason}`, () => world.condition("Ready", name) === reason);
  const isSame = async (world: World, plaintext: string) => (await world.keyIn("agent")) === plaintext;

  it("b67: reaches nothing of another team by a reference, a name or a Secret's name", async (context) => {
    const { world, side } = await start(context, [NAMESPACE, "theirs"], key("agent"));
    await world.declare(team("team-b", ["theirs"]), library("secrets", {}, "theirs"));
    const libraryAccess = { mode: "Restricted", libraryRefs: [{ name: "secrets", namespace: "theirs" }] };
    await world.declare(key("thief", { preset: "MCPReadWrite", libraryAccess }));
    expect(world.condition("Ready", "thief")).toBe("False/ReferenceNotFound");
    expect(await world.readSecret("thief")).toBeUndefined();
    for (const secret of [{ name: "theirs/agent" }, { name: "../theirs/agent" }]) {
      await expect(side.write(key("thief", { secret }))).rejects.toThrow("422");
    }
    const { metadata } = (await side.read(key("agent"))) ?? expect.fail("it is gone");
    const body = JSON.stringify({
      apiVersion: "keyplane.dev/v1alpha1",
      kind: "PlatformKey",
      metadata: { name: "../x" },
      spec: { preset: "MCPReadOnly" },
    });
    const collection = side.pathOf(key("agent")).replace(/\/agent$/, "");
    expect((await kubernetes().request("POST", collection, { body })).status).toBe(422);
    expect((await side.read(key("agent")))?.metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  it("b69: strips a Secret of its owner and labels, and it is ours again by what it holds", async (context) => {
    const { world, side } = await start(context, [NAMESPACE], key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await side.patch(SECRET, { metadata: { ownerReferences: null } });
    await until("it is owned again", async () => (await side.read(SECRET))?.metadata.ownerReferences?.length === 1);
    await side.patch(SECRET, { metadata: { labels: { "keyplane.dev/key": "another" } } });
    await until("it is labelled again", async () => {
      return (await side.read(SECRET))?.metadata.labels?.["keyplane.dev/key"] === "agent";
    });
    await ready(world, "True/Ready");
    expect(await isSame(world, plaintext)).toBe(true);
    expect((await world.stored("agent")).lastNumber).toBe(1);
  });

  it("b69: edits or deletes a Secret, and gets a new key, or a report where the declaration asks for that", async (context) => {
    const report = { secret: { onLost: "Report", onTampered: "Report" } };
    const { world, side } = await start(context, [NAMESPACE], key("agent"), key("report", report));
    const plaintext = await world.plaintextOf("agent");
    const chosen = `inf_${randomBytes(40).toString("hex")}`;
    for (const name of ["agent", "report"]) await world.editSecret(name, chosen);
    await until("a new key", async () => (await world.keyIn("agent")) !== chosen);
    await ready(world, "True/Ready");
    await ready(world, "False/SecretTampered", "report");
    expect(world.decide(chosen)).toBe("unauthorized");
    expect(await isSame(world, plaintext)).toBe(false);
    for (const name of ["agent", "report"]) await side.remove({ kind: "Secret", name });
    await ready(world, "False/SecretLost", "report");
    await until("the Secret is back", async () => (await world.keyIn("agent")) !== undefined);
    await ready(world, "True/Ready");
  });

  it("an immutable Secret keeps its version, says so, and gives way to a new one when it is deleted", async (context) => {
    const { world, side } = await start(context, [NAMESPACE], key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await side.patch(SECRET, { immutable: true });
    await world.declare(key("agent", { rotation: { trigger: "next" } }));
    await ready(world, "False/SecretImmutable");
    expect(world.decide(plaintext)).toBe("allowed");
    expect((await world.stored("agent")).lastNumber).toBe(1);
    await side.remove(SECRET);
    await ready(world, "True/Ready");
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
    expect(await isSame(world, plaintext)).toBe(false);
  });

  it("b70: writes a status, a finalizer, an owner of another team, and no right moves", async (context) => {
    const { world, side } = await start(context, [NAMESPACE], key("other"), key("agent", { state: "Suspended" }));
    await world.declare(key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await world.declare(key("agent", { state: "Suspended" }));
    const record = world.record(plaintext);
    const before = (await side.read(key("agent")))?.status;
    const other = (await side.read(key("other"))) ?? expect.fail("it is gone");
    await side.patch(
      key("agent"),
      { status: { team: "admins", keyID: other.status?.keyID, effectiveScopes: ["memory:write"], currentVersion: 9 } },
      "/status",
    );
    await side.patch(key("agent"), {
      metadata: {
        finalizers: [FINALIZER, "example.com/theirs"],
        labels: { "keyplane.dev/team": "admins" },
        ownerReferences: [
          { apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformKey", name: "other", uid: other.metadata.uid },
        ],
      },
    });
    await until("the status is the controller's again", async () => {
      return JSON.stringify((await side.read(key("agent")))?.status) === JSON.stringify(before);
    });
    expect(world.record(plaintext)).toEqual(record);
    expect(world.decide(plaintext)).toBe("unauthorized");
    expect((await world.stored("agent")).lastNumber).toBe(1);
    await side.patch(key("agent"), { metadata: { finalizers: [FINALIZER] } });
  });

  it("c46: corrupts a Secret's owner, its annotations and a key's uid, gains nothing, and it is reported", async (context) => {
    const { world, side } = await start(context, [NAMESPACE], key("other"), key("agent"));
    const plaintext = await world.plaintextOf("agent");
    const other = (await side.read(key("other"))) ?? expect.fail("it is gone");
    const owner = { apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformKey", name: "other", uid: other.metadata.uid };
    await side.patch(SECRET, {
      metadata: {
        annotations: { "keyplane.dev/key-id": String(other.status?.keyID), "keyplane.dev/key-version": "7" },
      },
    });
    await until("its annotations are put right", async () => {
      return (await side.read(SECRET))?.metadata.annotations?.["keyplane.dev/key-version"] === "1";
    });
    await side.patch(SECRET, { metadata: { ownerReferences: [{ ...owner, controller: true }] } });
    await ready(world, "False/SecretConflict");
    expect([world.decide(plaintext), await isSame(world, plaintext)]).toEqual(["allowed", true]);
    await expect(side.patch(key("agent"), { metadata: { uid: other.metadata.uid } })).rejects.toThrow(
      "field is immutable",
    );
    await side.patch(SECRET, { metadata: { ownerReferences: null } });
    await ready(world, "True/Ready");
    expect(await isSame(world, plaintext)).toBe(true);
    expect((await world.stored("agent")).lastNumber).toBe(1);
  });

  it("b73: claims another's public id, and has it neither then nor when its holder is deleted and made again", async (context) => {
    const publicID = `g-${randomBytes(4).toString("hex")}`;
    const { world } = await start(context, [NAMESPACE, "theirs"], provider, gateway("first", publicID));
    const theirs = (name: string): Manifest => ({ ...gateway(name, publicID), namespace: "theirs" });
    await world.declare(team("team-b", ["theirs"]), { ...provider, namespace: "theirs" }, theirs("second"));
    const accepted = (name: string, namespace: string) => world.condition("Accepted", name, "ModelGateway", namespace);
    expect(accepted("first", NAMESPACE)).toBe("True/Serving");
    expect(accepted("second", "theirs")).toBe("False/PublicIDTaken");
    await world.remove(gateway("first", publicID));
    await world.rest();
    expect(accepted("second", "theirs"), "a public id stays its team's").toBe("False/PublicIDTaken");
    await world.declare(gateway("third", publicID));
    expect(accepted("third", NAMESPACE)).toBe("True/Serving");
  });

  it("whose namespace goes from one team to another has its keys revoked there, and new ones here", async (context) => {
    const { world } = await start(context, [NAMESPACE], key("agent"));
    const first = await world.plaintextOf("agent");
    await world.declare(team("team-a", ["none"]), team("team-b", [NAMESPACE]));
    await until("a new key", async () => (await world.keyIn("agent")) !== first);
    await ready(world, "True/Ready");
    expect(world.decide(first)).toBe("unauthorized");
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
    expect(world.get("PlatformKey", "agent")?.status?.team).toBe(`team-b${world.tag}`);
    const reasons = (await world.storedKeys()).map(({ revocation }) => revocation?.reason);
    expect(reasons).toEqual(["Moved", undefined]);
  });

  const post = async (path: string, body: object) => {
    const { status } = await kubernetes().request("POST", path, { body: JSON.stringify(body) });
    expect(status).toBe(201);
  };

  it("deletes a namespace whose RoleBinding goes first: its keys are revoked, and it goes", async (context) => {
    const RBAC = "/apis/rbac.authorization.k8s.io/v1";
    const name = `faults-${randomBytes(4).toString("hex")}`;
    const roleRef = (role: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: role });
    const subjects = [{ kind: "ServiceAccount", namespace: "default", name }];
    await post("/api/v1/namespaces/default/serviceaccounts", { metadata: { name } });
    await post(`${RBAC}/clusterroles`, {
      metadata: { name },
      rules: [
        { apiGroups: ["keyplane.dev"], resources: ["*"], verbs: ["*"] },
        { apiGroups: ["events.k8s.io"], resources: ["events"], verbs: ["create"] },
        { apiGroups: [""], resources: ["namespaces"], resourceNames: ["kube-system"], verbs: ["get"] },
      ],
    });
    await post(`${RBAC}/clusterroles`, {
      metadata: { name: `${name}-secrets` },
      rules: [{ apiGroups: [""], resources: ["secrets"], verbs: ["*"] }],
    });
    await post(`${RBAC}/clusterrolebindings`, { metadata: { name }, roleRef: roleRef(name), subjects });
    const kubeconfig = join(dirname(kubernetes().kubeconfigPath), `${name}.kubeconfig`);
    const token = await kubernetes().createToken("default", name);
    await writeFile(kubeconfig, await kubernetes().kubeconfig(token), { mode: 0o600 });

    let bindings = "";
    const bind = async ({ tag }: KubernetesSide) => {
      bindings = `${RBAC}/namespaces/${NAMESPACE}${tag}/rolebindings`;
      await post(bindings, { metadata: { name }, roleRef: roleRef(`${name}-secrets`), subjects });
    };
    const { world } = await startAs(context, { kubeconfig }, bind, key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await kubernetes().request("DELETE", `${bindings}/${name}`);
    const namespace = `/api/v1/namespaces/${NAMESPACE}${world.tag}`;
    await until("the declaration is gone", async () => {
      await kubernetes().request("DELETE", namespace);
      return world.get("PlatformKey", "agent") === undefined;
    });
    await until("the namespace is gone", async () => (await kubernetes().request("GET", namespace)).status === 404);
    await until("refused", () => world.decide(plaintext) === "unauthorized");
    expect((await world.storedKeys()).map(({ revocation }) => revocation?.reason)).toEqual(["Deleted"]);
  });

  /** As a backup restores them: the same names and labels, other uids, no owner. */
  async function restore(world: World, side: KubernetesSide, names: readonly string[]): Promise<void> {
    const all: ManifestName[] = names.flatMap((name) => [key(name), { kind: "Secret", name }]);
    const saved = await Promise.all(all.map((one) => side.read(one)));
    await world.stop();
    for (const one of names.map((name) => key(name))) {
      await side.patch(one, { metadata: { finalizers: null } });
      await side.remove(one);
    }
    for (const [i, one] of all.entries()) {
      await until("the garbage collector has been", async () => (await side.read(one)) === undefined);
      const { metadata, ...rest } = saved[i] ?? expect.fail("nothing was saved");
      const { labels, annotations } = metadata;
      const body = { ...rest, metadata: { name: one.name, labels, annotations } };
      const collection = side.pathOf(one).replace(/\/[^/]*$/, "");
      const { status } = await kubernetes().request("POST", collection, { body: JSON.stringify(body) });
      expect(status).toBe(201);
    }
    await world.start();
    await world.rest();
  }

  it("c25: restores its namespace with new uids and old Secrets: what they hold ends, and new keys take their place", async (context) => {
    const names = ["agent", "second"];
    const { world, side } = await start(context, [NAMESPACE], ...names.map((name) => key(name)));
    const first = await world.plaintextOf("agent");
    await restore(world, side, names);
    expect(world.condition("Ready", "agent")).toBe("False/SecretConflict");
    const findings = (await findAfterRestore(world.cluster(), world.store.db)).map(
      ({ severity, message }) => `${severity} ${message}`,
    );
    expect(findings).toContainEqual(
      expect.stringMatching(/^note PlatformKey \S+\/agent was restored with another uid$/),
    );
    expect(world.decide(first), "until garbage collection has been, the old ones work").toBe("allowed");
    await world.collectGarbage();
    for (const name of names) world.poke(name);
    await ready(world, "True/Ready");
    await until("the old key is refused", () => world.decide(first) === "unauthorized");
    expect(await isSame(world, first)).toBe(false);
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
  });
});
