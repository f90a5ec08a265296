import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { listKeys } from "../../store/keys/search/key-lists.ts";
import { listObjects } from "../../store/objects/objects.ts";
import { read } from "../architecture/sources.ts";
import { accountKubeconfig, type Controller, startController } from "../env/controller.ts";
import { migratedDatabase } from "../env/database/engines.ts";
import { type ApiProxy, startApiProxy } from "../env/kubernetes/api-proxy.ts";
import { createNamespace, inNamespace } from "../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../env/kubernetes/lent.ts";
import { GATEWAY, keyManifest, LIBRARY, teamManifest } from "../env/kubernetes/manifests.ts";
import { applyAll } from "../env/kubernetes/server-side-apply.ts";
import { itByNight } from "../env/night-test.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { doEverything } from "./everything.ts";
import { covers, followUses, type Right, rightsListed, sweeping, textOf, type Use } from "./rights.ts";

const ACCOUNT = "system:serviceaccount:keyplane-system:keyplane-controller";

describe("infra/rbac, on Kubernetes", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let store: Store;
  /** Controllers reach the API server through it. */
  let api: ApiProxy;
  let kubeconfig: string;
  const running = new Set<Controller>();
  const encryptionKey = randomBytes(32).toString("base64");

  const kubectl = (...args: string[]) => kubernetes.kubectl(args);
  const create = (namespace: string) => createNamespace(kubernetes, namespace);
  const applyController = () => applyAll(kubernetes, read("infra/rbac/controller.yaml"), { force: true });
  const applyRole = (namespace: string) => applyAll(kubernetes, read("infra/rbac/namespace.yaml"), { namespace });

  async function start(...flags: string[]): Promise<Controller> {
    const started = await startController({ kubeconfig, databaseUrl: database.url, encryptionKey, flags });
    running.add(started);
    return started;
  }

  async function stop(controller: Controller): Promise<void> {
    running.delete(controller);
    expect(await controller.stop()).toBe(0);
  }

  const leads = ({ lines }: Controller) => until("it leads", () => lines.some((line) => line.includes("leads")));

  const stateOf = async (keyId: string) =>
    (await listKeys(store.db, { limit: 100 })).find(({ id }) => id === keyId)?.state;

  const usesSince = (since: number) => followUses(kubernetes.auditLog ?? "", ACCOUNT, since);

  const listRights = async (namespace: string, ...as: string[]): Promise<Right[]> =>
    rightsListed(await kubectl("auth", "can-i", "--list", "--namespace", namespace, ...as), namespace);

  /** What every account may do in a namespace, such as to ask who it is. */
  const everybodysRightsIn = (namespace: string) =>
    listRights(namespace, "--as", "system:serviceaccount:default:absent", "--as-group", "system:authenticated");

  /** What the controller may do in a namespace beyond that. */
  async function rightsIn(namespace: string): Promise<Right[]> {
    const everybodys = await everybodysRightsIn(namespace);
    const rights = await listRights(namespace, "--kubeconfig", kubeconfig);
    return rights.filter((right) => !everybodys.some((other) => textOf(other) === textOf(right)));
  }

  /** The same with what holds in the whole cluster apart: it holds in a namespace that is not there, too. */
  async function rights(...namespaces: string[]): Promise<Right[]> {
    const wide = (await rightsIn("nowhere")).map((right) => ({ ...right, namespace: "" }));
    const narrow = await Promise.all(["keyplane-system", "default", ...namespaces].map(rightsIn));
    return [...wide, ...narrow.flat().filter((right) => !wide.some((other) => covers(other, right)))];
  }

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    store = await openPostgres(database.url);
    await applyController();
    api = await startApiProxy(kubernetes);
    kubeconfig = await accountKubeconfig(kubernetes, api.url);
  });

  afterAll(async () => {
    await Promise.all([...running].map((controller) => controller.stop()));
    await api?.close();
    await store?.close();
    await database?.drop();
    await kubernetes?.close();
  });

  /** Changes an object once more just before its status reaches the API server, which the controller writes about the first change. */
  async function outrun(statusPath: string, change: () => Promise<void>): Promise<void> {
    const answered = Promise.withResolvers<void>();
    const stop = api.rule(async ({ method, path }) => {
      if (method !== "PATCH" || path !== statusPath) return undefined;
      stop();
      await change().then(answered.resolve, answered.reject);
      return undefined;
    });
    await change();
    await answered.promise;
  }

  const MODES = [
    { mode: "cluster-wide", namespace: "dev", flags: [] },
    { mode: "namespaced", namespace: "narrow", flags: ["--namespaces", "narrow"] },
  ];

  it.each(MODES)(
    "b71: a $mode controller is granted what it uses and nothing more, and none of it is sweeping",
    async ({ namespace, flags }) => {
      await create(namespace);
      await applyRole(namespace);
      const granted = await rights(namespace);
      expect(granted.map((right) => [textOf(right), sweeping(right)]).filter(([, why]) => why !== undefined)).toEqual(
        [],
      );

      const uses = usesSince(Date.now());
      const first = await start(...flags);
      await leads(first);
      const second = await start(...flags);
      await doEverything(kubernetes, namespace, outrun);
      await stop(first);
      await leads(second);
      await stop(second);

      const used = await uses();
      expect(refused(used)).toEqual([]);
      expect(texts(granted.filter((right) => !used.some((use) => covers(right, use))))).toEqual([]);
      const everybodys = (await everybodysRightsIn("nowhere")).map((right) => ({ ...right, namespace: "" }));
      const may = [...granted, ...everybodys];
      expect(texts(used.filter((use) => !may.some((right) => covers(right, use))))).toEqual([]);
    },
  );

  /** Two namespaces of a team, of which one is to end, with all that can be declared there; and one that no team has. */
  async function makeEnding(mode: string, namespace: string) {
    for (const name of [namespace, "beside", "afar"]) {
      // The two that do not end may be there from before.
      await kubernetes.request("POST", "/api/v1/namespaces", { body: JSON.stringify({ metadata: { name } }) });
      await applyRole(name);
    }
    const isNarrow = mode === "namespaced";
    const flags = isNarrow ? ["--namespaces", `${namespace},beside`] : [];
    const uses = usesSince(Date.now());
    const controller = await start(...flags);
    const [ending, beside] = [inNamespace(kubernetes, namespace), inNamespace(kubernetes, "beside")];
    const afar = inNamespace(kubernetes, "afar");
    if (isNarrow) await afar.apply(keyManifest("reader"));
    const keys = [
      keyManifest("reader"),
      keyManifest("left", "secret: { creationPolicy: Orphan }"),
      keyManifest("retained", "deletionPolicy: Retain"),
    ];
    await ending.apply([teamManifest("ending", `${namespace}, beside`), GATEWAY, LIBRARY, ...keys].join(""));
    await beside.apply(keyManifest("reader"));
    await Promise.all([ending.ready("reader", "left", "retained"), beside.ready("reader")]);
    expect(await objectsIn(namespace)).toHaveLength(2);
    return {
      ending,
      controller,
      /** A controller after the first one. */
      startNext: () => start(...flags),
      /** Checks that the end of the one namespace has been felt in no other, and tidies up. */
      async isFeltNowhereElse() {
        expect(await stateOf(String((await beside.key("reader"))?.status?.keyID))).toBe("active");
        const used = await uses();
        // With the namespace go the rights on its Secrets: being refused these holds up nothing.
        const expected = / (secrets|events\.events\.k8s\.io)( .*)? in ending-/;
        expect(refused(used).filter((text) => !expected.test(text))).toEqual([]);
        await beside.remove(beside.path("platformkeys", "reader"));
        if (!isNarrow) return;
        const places = new Set(used.map((use) => use.namespace));
        expect(places).toEqual(new Set(["", "keyplane-system", namespace, "beside"]));
        expect((await afar.key("reader"))?.status?.keyID).toBeUndefined();
        await afar.remove(afar.path("platformkeys", "reader"));
      },
    };
  }

  /** The gateways and libraries that are served in a namespace. */
  const objectsIn = async (namespace: string) => [
    ...(await listObjects(store.db, "gateway", { namespace, limit: 10 })),
    ...(await listObjects(store.db, "library", { namespace, limit: 10 })),
  ];

  /** The keys of a namespace, as `reader active`. */
  async function keysIn(namespace: string): Promise<string[]> {
    const stored = (await listKeys(store.db, { limit: 200 })).filter((one) => one.namespace === namespace);
    return stored.map(({ name, state, ownerUid }) => `${name} ${ownerUid === null ? "released" : state}`).sort();
  }

  const namespacePath = (namespace: string) => `/api/v1/namespaces/${namespace}`;
  const deleteNamespace = (namespace: string) => kubernetes.request("DELETE", namespacePath(namespace));
  const untilNamespaceIsGone = (namespace: string) =>
    until(
      "the namespace is gone",
      async () => (await kubernetes.request("GET", namespacePath(namespace))).status === 404,
    );
  const untilOnlyFinalizersHold = (namespace: string) =>
    until("its Roles and Secrets are gone, and only our finalizers are left", async () => {
      const { body } = await kubernetes.request("GET", namespacePath(namespace));
      return JSON.stringify(body).includes("keyplane.dev/finalizer in 5 resource instances");
    });

  /** By day each mode is tried one way, at night both ways. */
  const inModes = (ofDay: string) => MODES.filter(({ mode }) => NIGHTLY || mode === ofDay);

  it.each(inModes("cluster-wide"))(
    "c57: a namespace that is deleted ends its keys and goes ($mode, controller up)",
    async ({ mode }) => {
      const namespace = `ending-${mode}-up`;
      const { controller, isFeltNowhereElse } = await makeEnding(mode, namespace);
      await deleteNamespace(namespace);
      await untilNamespaceIsGone(namespace);
      expect(await keysIn(namespace)).toEqual(["left revoked", "reader revoked", "retained released"]);
      expect(await objectsIn(namespace)).toEqual([]);
      await isFeltNowhereElse();
      await stop(controller);
    },
  );

  it.each(inModes("namespaced"))(
    "c57: a namespace that is deleted with the controller down waits for it, ends its keys and goes ($mode)",
    async ({ mode }) => {
      const namespace = `ending-${mode}-down`;
      const { controller, startNext, isFeltNowhereElse } = await makeEnding(mode, namespace);
      await stop(controller);
      await deleteNamespace(namespace);
      await untilOnlyFinalizersHold(namespace);
      const next = await startNext();
      await untilNamespaceIsGone(namespace);
      expect(await keysIn(namespace)).toEqual(["left revoked", "reader revoked", "retained released"]);
      expect(await objectsIn(namespace)).toEqual([]);
      await isFeltNowhereElse();
      await stop(next);
    },
  );

  // By day namespaces.cluster.test.ts has keys end that are declared nowhere any more, with all rights.
  itByNight(
    "c57: a namespace that is deleted with the controller down, and its finalizers stripped, ends its keys at the next start (namespaced)",
    async () => {
      const namespace = "ending-namespaced-stripped";
      const { ending, controller, startNext, isFeltNowhereElse } = await makeEnding("namespaced", namespace);
      await stop(controller);
      await deleteNamespace(namespace);
      await untilOnlyFinalizersHold(namespace);
      for (const [plural, name] of DECLARED) {
        await ending.change(ending.path(plural, name), { metadata: { finalizers: null } });
      }
      await untilNamespaceIsGone(namespace);
      expect(await keysIn(namespace)).toEqual(["left active", "reader active", "retained active"]);
      const next = await startNext();
      const isAlive = (state: string) => state.endsWith(" active");
      const hasEnded = async () =>
        !(await keysIn(namespace)).some(isAlive) && (await objectsIn(namespace)).length === 0;
      await until("the keys have ended", hasEnded);
      expect(await keysIn(namespace)).toEqual(["left revoked", "reader revoked", "retained released"]);
      await isFeltNowhereElse();
      await stop(next);
    },
  );

  itByNight(
    "c57: a protected key holds its namespace and works on, and goes with it once it is protected no more",
    async () => {
      await create("held");
      await applyRole("held");
      const held = inNamespace(kubernetes, "held");
      const controller = await start();
      await held.apply(teamManifest("held", "held") + keyManifest("guarded", "deletionProtection: true"));
      await held.ready("guarded");
      const keyId = String((await held.key("guarded"))?.status?.keyID);
      await deleteNamespace("held");
      await held.holds("says what holds it", "guarded", (_, reason) => reason === "DeletionProtected");
      await until("its Secret is gone", async () => (await held.read(held.secretPath("guarded"))) === undefined);
      expect(await stateOf(keyId)).toBe("active");
      await held.changeKey("guarded", { deletionProtection: false });
      await untilNamespaceIsGone("held");
      expect(await stateOf(keyId)).toBe("revoked");
      await stop(controller);
    },
  );

  it("a namespace without the Role holds up no other, says what to do, and heals once it is there", async () => {
    for (const namespace of ["with", "without"]) await create(namespace);
    await applyRole("with");
    const uses = usesSince(Date.now());
    const controller = await start();
    await leads(controller);
    const [healthy, blind] = [inNamespace(kubernetes, "with"), inNamespace(kubernetes, "without")];
    await blind.apply(`${teamManifest("both", "with, without")}${GATEWAY}${keyManifest("reader")}`);
    const found = await blind.holds("cannot be read", "reader", (_, reason) => reason === "SecretUnreadable");
    const said = found.status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
    expect(said).toContain("by keyNamespaces of the chart, or without Helm by infra/rbac/namespace.yaml");
    const gateway = () => blind.read<typeof found>(blind.path("modelgateways", "main"));
    await until("the gateway says the same", async () =>
      (await gateway())?.status?.conditions?.some(
        ({ type, reason }) => type === "Ready" && reason === "SecretUnreadable",
      ),
    );
    await healthy.apply(keyManifest("reader"));
    await healthy.ready("reader");
    expect(new Set(refused(await uses()))).toEqual(
      new Set([
        "create events.events.k8s.io in without",
        "get secrets provider in without",
        "get secrets reader in without",
        "list secrets in without",
      ]),
    );

    await applyRole("without");
    await until("the gateway is served", async () =>
      (await gateway())?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
    );
    await until("the key is ready", async () => {
      const ready = (await blind.key("reader"))?.status?.conditions?.find(({ type }) => type === "Ready");
      return ready?.status === "True";
    });
    await stop(controller);
  });

  itByNight("a served namespace that withdraws its Role holds up no other, and its keys are no orphans", async () => {
    const [open, closed] = [inNamespace(kubernetes, "open"), inNamespace(kubernetes, "closed")];
    await applyAll(kubernetes, NARROWER, { force: true });
    for (const namespace of ["open", "closed"]) {
      await create(namespace);
      await applyRole(namespace);
      await inNamespace(kubernetes, namespace).apply(DECLARATIONS_ROLE);
    }
    const first = await start("--namespaces", "open,closed");
    await open.apply(teamManifest("served", "open, closed") + keyManifest("reader") + keyManifest("vanished"));
    await closed.apply(keyManifest("reader"));
    await Promise.all([open.ready("reader", "vanished"), closed.ready("reader")]);
    await stop(first);

    await kubectl("delete", "--namespace", "closed", "rolebinding", "keyplane-keys", "keyplane-declarations");
    // The proof that sweeps have taken place: a declaration that vanished unseen.
    const gone = String((await open.key("vanished"))?.status?.keyID);
    const kept = String((await closed.key("reader"))?.status?.keyID);
    await open.change(open.path("platformkeys", "vanished"), { metadata: { finalizers: null } });
    await open.remove(open.path("platformkeys", "vanished"));
    const uses = usesSince(Date.now());
    const second = await start("--namespaces", "open,closed");
    await open.apply(keyManifest("another"));
    await open.ready("another");
    await until("the orphan is revoked", async () => (await stateOf(gone)) === "revoked", { longestPauseMs: 1_000 });
    expect(await stateOf(kept)).toBe("active");
    expect(refused(await uses())).toContain("list platformkeys.keyplane.dev in closed");

    await applyController();
    await closed.changeKey("reader", { displayName: "Seen again" });
    await until("the key is looked after again", async () => {
      const { metadata, status } = (await closed.key("reader")) ?? {};
      return status?.observedGeneration === metadata?.generation;
    });
    await stop(second);
  });

  it("the README's way to a namespace is the one that is tested", async () => {
    const text = read("infra/rbac/README.md");
    expect(text).toContain("kubectl apply -f infra/rbac/controller.yaml");
    expect(text).toContain("kubectl apply -n NAMESPACE -f infra/rbac/namespace.yaml");
  });
});

const texts = (rights: readonly Right[]): string[] => [...new Set(rights.map(textOf))].sort();
const refused = (uses: readonly Use[]): string[] => texts(uses.filter(({ allowed }) => !allowed));

/** As an operator may have it who wants no right on any declaration to hold in the whole cluster. */
const NARROWER = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: keyplane-controller }
rules:
  - { apiGroups: [keyplane.dev], resources: [platformteams, platformteams/status], verbs: [get, list, watch, patch] }
  - { apiGroups: [keyplane.dev], resources: [platformkeypolicies], verbs: [get, list, watch] }
  - { apiGroups: [keyplane.dev], resources: [platformkeypolicies/status], verbs: [patch] }
  - { apiGroups: [""], resources: [namespaces], verbs: [get] }
`;
const DECLARATIONS_ROLE = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: keyplane-declarations }
rules:
  - { apiGroups: [keyplane.dev], resources: ["*"], verbs: [get, list, watch, patch] }
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: keyplane-declarations }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: keyplane-declarations }
subjects: [{ kind: ServiceAccount, name: keyplane-controller, namespace: keyplane-system }]
`;

/** What is declared in a namespace that goes. */
const DECLARED = [
  ["platformkeys", "reader"],
  ["platformkeys", "left"],
  ["platformkeys", "retained"],
  ["modelgateways", "main"],
  ["memorylibraries", "handbook"],
] as const;
