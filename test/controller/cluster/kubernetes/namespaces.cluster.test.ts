/**
 * Namespaces that are being deleted or gone, as a controller sees them that has no help: here no controller manager
 * deletes what is in a namespace.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Finding } from "../../../../cli/doctor/finding.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../../store/database/store.ts";
import { listKeys } from "../../../../store/keys/search/key-lists.ts";
import { listObjects } from "../../../../store/objects/objects.ts";
import { keyplane } from "../../../cli/up.ts";
import { type Controller, startController } from "../../../env/controller.ts";
import { migratedDatabase } from "../../../env/database/engines.ts";
import { inNamespace } from "../../../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../../../env/kubernetes/lent.ts";
import { keyManifest, LIBRARY, teamManifest } from "../../../env/kubernetes/manifests.ts";
import { itByNight } from "../../../env/night-test.ts";
import { until } from "../../../env/until.ts";

/** Of what comes with a sweep, within a minute: to ask ten times a second takes more than the sweep. */
const LATER = { longestPauseMs: 1_000 };
type UidMetadata = { readonly metadata: { readonly uid: string; readonly finalizers?: readonly string[] } };

describe("namespaces that go", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let store: Store;
  const running = new Set<Controller>();
  const encryptionKey = randomBytes(32).toString("base64");

  async function start(...flags: string[]): Promise<Controller> {
    const { kubeconfigPath: kubeconfig } = kubernetes;
    const started = await startController({ kubeconfig, databaseUrl: database.url, encryptionKey, flags });
    running.add(started);
    await until("it leads", () => started.lines.some((line) => line.includes("leads")));
    return started;
  }

  async function stop(controller: Controller): Promise<void> {
    running.delete(controller);
    expect(await controller.stop()).toBe(0);
  }

  let serving: Controller | undefined;
  /** The controller of all namespaces, which one test leaves running for the next. */
  async function serve(): Promise<Controller> {
    serving ??= await start();
    return serving;
  }

  async function stopServing(): Promise<void> {
    if (serving !== undefined) await stop(serving);
    serving = undefined;
  }

  const path = (namespace: string) => `/api/v1/namespaces/${namespace}`;
  async function create(namespace: string) {
    const body = JSON.stringify({ metadata: { name: namespace } });
    expect((await kubernetes.request("POST", "/api/v1/namespaces", { body })).status).toBe(201);
    return inNamespace(kubernetes, namespace);
  }

  /** As an impatient administrator does: what is still in it is not looked at. */
  async function force(namespace: string): Promise<void> {
    const metadata = { name: namespace };
    const body = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata, spec: { finalizers: [] } });
    await kubernetes.request("DELETE", path(namespace));
    await until("the namespace is gone", async () => {
      await kubernetes.request("PUT", `${path(namespace)}/finalize`, { body });
      return (await kubernetes.request("GET", path(namespace))).status === 404;
    });
  }

  /** What the store has of the keys of a namespace: each key's state, and `released` where no declaration owns it. */
  async function states(namespace: string): Promise<Record<string, string>> {
    const keys = (await listKeys(store.db, { limit: 200 })).filter((stored) => stored.namespace === namespace);
    return Object.fromEntries(keys.map(({ name, state, ownerUid }) => [name, ownerUid === null ? "released" : state]));
  }

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes({ controllerManager: false }), migratedDatabase()]);
    store = await openPostgres(database.url);
  });

  afterAll(async () => {
    await Promise.all([...running].map((controller) => controller.stop()));
    await store?.close();
    await database?.drop();
    await kubernetes?.close();
  });

  it("c57: a namespace that is being deleted ends what is declared in it before that is deleted itself", async () => {
    const [ending, beside] = [await create("ending"), await create("beside")];
    await serve();
    const keys = [
      keyManifest("reader"),
      keyManifest("retained", "deletionPolicy: Retain"),
      keyManifest("guarded", "deletionProtection: true"),
    ];
    await ending.apply([teamManifest("research", "ending, beside"), LIBRARY, ...keys].join(""));
    await beside.apply(keyManifest("reader"));
    await Promise.all([ending.ready("reader", "retained", "guarded"), beside.ready("reader")]);

    await kubernetes.request("DELETE", path("ending"));
    await until("all that nothing protects has ended", async () => {
      const { reader, retained } = await states("ending");
      return reader === "revoked" && retained === "released";
    });
    const finalizers = async (at: string) => (await ending.read<UidMetadata>(at))?.metadata.finalizers ?? [];
    for (const at of [
      ending.path("platformkeys", "reader"),
      ending.path("platformkeys", "retained"),
      ending.path("memorylibraries", "handbook"),
    ]) {
      await until(`nothing of ours holds ${at}`, async () => (await finalizers(at)).length === 0);
    }
    expect(await listObjects(store.db, "library", { namespace: "ending", limit: 1 })).toEqual([]);
    expect(await states("ending")).toMatchObject({ guarded: "active" });
    expect(await states("beside")).toEqual({ reader: "active" });
    expect(await finalizers(ending.path("platformkeys", "guarded")), "it holds the namespace").toHaveLength(1);

    await ending.changeKey("guarded", { deletionProtection: false });
    await until("the protected key has ended", async () => (await states("ending")).guarded === "revoked");
    for (const name of ["reader", "retained", "guarded"]) await ending.remove(ending.path("platformkeys", name));
    await ending.remove(ending.path("memorylibraries", "handbook"));
    await force("ending");

    // Another namespace by its name owes nothing to it.
    const again = await create("ending");
    await again.apply(keyManifest("reader"));
    await again.ready("reader");
    const keyId = (await again.key("reader"))?.status?.keyID;
    expect((await listKeys(store.db, { limit: 200 })).find(({ id }) => id === keyId)?.state).toBe("active");
  });

  it("c57: a protected key whose namespace is being deleted is not minted anew, and says what lets it go", async () => {
    const world = await create("protected");
    const { lines } = await serve();
    const before = lines.length;
    await world.apply(teamManifest("research", "protected") + keyManifest("guarded", "deletionProtection: true"));
    await world.ready("guarded");
    await kubernetes.request("DELETE", path("protected"));
    await world.drop(world.path("platformkeys", "guarded"));
    await world.remove(world.secretPath("guarded"));
    const conditionOf = async (type: string) =>
      (await world.key("guarded"))?.status?.conditions?.find((one) => one.type === type);
    await until("the loss is reported", async () => {
      const delivered = await conditionOf("SecretDelivered");
      return delivered?.status === "False";
    });
    expect(await conditionOf("SecretDelivered")).toMatchObject({ reason: "NamespaceTerminating" });
    for (const type of ["Ready", "SecretDelivered"]) {
      expect((await conditionOf(type))?.message).toContain("Set spec.deletionProtection to false");
    }
    const versions = await store.db
      .selectFrom("key_versions")
      .innerJoin("keys", "keys.id", "key_versions.key_id")
      .select(["number", "key_versions.state"])
      .where("namespace", "=", "protected")
      .execute();
    expect(versions).toEqual([{ number: 1, state: "active" }]);
    expect(lines.slice(before).filter((line) => line.includes("while reconciling"))).toEqual([]);

    await world.changeKey("guarded", { deletionProtection: false });
    await until("the key has ended", async () => (await states("protected")).guarded === "revoked");
    await force("protected");
  });

  /** What doctor finds of keys that no controller serves, a line each. */
  async function doctor(
    where = ["--controller-namespace", "default"],
  ): Promise<{ code: number | null; lines: string[] }> {
    const flags = ["--database-url", database.url, "--kubeconfig", kubernetes.kubeconfigPath];
    const { code, out } = await keyplane(["doctor", "-o", "json", ...flags, ...where]);
    const { findings }: { findings: Finding[] } = JSON.parse(out);
    const unserved = findings.filter(({ name }) => name === "unserved-keys");
    return { code, lines: unserved.map(({ severity, message, action }) => `${severity}  ${message}: ${action}`) };
  }

  /** As a person does who strips finalizers by hand. */
  async function strip(world: ReturnType<typeof inNamespace>, ...names: string[]): Promise<void> {
    for (const name of names) {
      await world.change(world.path("platformkeys", name), { metadata: { finalizers: null } });
      await world.remove(world.path("platformkeys", name));
    }
  }

  it("c57: doctor names the keys that no controller serves, and those whose namespace is ending or gone", async () => {
    const world = await create("looked-after");
    await stopServing();
    const controller = await start("--namespaces", "looked-after");
    await world.apply(teamManifest("research", "looked-after") + keyManifest("first") + keyManifest("second"));
    await world.ready("first", "second");
    // What other tests have left is served by no controller.
    const ours = async () => (await doctor()).lines.filter((line) => /looked-after|every declared key/.test(line));
    expect(await ours()).toEqual([]);
    expect((await doctor([])).lines.filter((line) => line.includes("looked-after"))).toEqual([
      expect.stringContaining(
        "no controller that runs in keyplane-system serves it, and nothing that is declared there takes effect: start one, give --controller-namespace NAME",
      ),
    ]);

    await stop(controller);
    const keys = "2 keys (first, second) of the namespace looked-after";
    expect(await doctor()).toMatchObject({ code: 1 });
    expect(await ours()).toEqual([
      expect.stringMatching(
        `^error  ${RegExp.escape(keys)}: no controller that runs in default serves it, .*keyplane revoke`,
      ),
    ]);
    await kubernetes.request("DELETE", path("looked-after"));
    expect(await ours()).toEqual([
      expect.stringMatching(
        `^error  ${RegExp.escape(keys)}, which is being deleted: they work on, since no controller`,
      ),
    ]);
    await strip(world, "first", "second");
    await force("looked-after");
    expect(await ours()).toEqual([
      expect.stringMatching(`^error  ${RegExp.escape(keys)}, which is gone: they work on, since no controller`),
    ]);

    // Of what has neither a namespace nor a declaration any more a controller is rid within a minute.
    const again = await start("--namespaces", "looked-after");
    expect((await ours()).filter((line) => !line.startsWith("note"))).toEqual([]);
    await until(
      "both have ended",
      async () => {
        const { first, second } = await states("looked-after");
        return first === "revoked" && second === "revoked";
      },
      LATER,
    );
    expect(await ours()).toEqual([]);
    await stop(again);
  });

  itByNight(
    "c57: doctor says of a namespace that is gone when its keys are too many to end of themselves",
    async () => {
      const world = await create("many");
      const names = Array.from({ length: 11 }, (_, i) => `key-${i}`);
      await serve();
      await world.apply(teamManifest("research", "many") + names.map((name) => keyManifest(name)).join(""));
      await world.ready(...names);
      await stopServing();
      await strip(world, ...names);
      await force("many");

      const controller = await serve();
      await until("garbage collection is paused", () =>
        controller.lines.some((line) => line.includes("garbage collection is paused")),
      );
      const { code, lines } = await doctor();
      expect([code, lines.filter((line) => line.includes(" many"))]).toEqual([
        1,
        [
          expect.stringMatching(
            /^error {2}11 keys \(key-0, .* and 1 more\) of the namespace many, which is gone: too many/,
          ),
        ],
      ]);
      expect(Object.values(await states("many"))).toEqual(names.map(() => "active"));
      await stopServing();
    },
  );
});
