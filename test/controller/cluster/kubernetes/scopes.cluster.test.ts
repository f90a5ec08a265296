/**
 * One store for many controllers: two that serve namespaces of their own in one cluster, and one that serves another
 * cluster, where everything has the same names.
 */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../../store/database/store.ts";
import { listKeys } from "../../../../store/keys/search/key-lists.ts";
import { type Controller, startController } from "../../../env/controller.ts";
import { migratedDatabase } from "../../../env/database/engines.ts";
import { inNamespace } from "../../../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../../../env/kubernetes/lent.ts";
import { until } from "../../../env/until.ts";

const TEAM = "/apis/keyplane.dev/v1alpha1/platformteams/research";
const MANIFESTS = `
apiVersion: keyplane.dev/v1alpha1
kind: PlatformTeam
metadata: { name: research }
spec: { namespaces: [a, b] }
---
apiVersion: keyplane.dev/v1alpha1
kind: MemoryLibrary
metadata: { name: handbook }
spec: {}
---
apiVersion: keyplane.dev/v1alpha1
kind: PlatformKey
metadata: { name: reader }
spec: { preset: MCPReadOnly, libraryAccess: { mode: Restricted, libraryRefs: [{ name: handbook }] } }
`;

const PLACES = ["first/a", "first/b", "second/a"] as const;
type ScopedKeyName = (typeof PLACES)[number];
/** Of what comes with a sweep, within a minute: to ask ten times a second takes more than the sweep. */
const LATER = { longestPauseMs: 1_000 };
type VersionedObject = { readonly metadata: { readonly resourceVersion: string } };

describe("scopes on one store", () => {
  let clusters: readonly LentKubernetes[] = [];
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let store: Store;
  const running: Controller[] = [];
  let ofA: Controller;
  let ofB: Controller;
  const encryptionKey = randomBytes(32).toString("base64");
  /** By place: the first cluster's namespaces a and b, and the second cluster's a. */
  let worlds: Readonly<Record<ScopedKeyName, ReturnType<typeof inNamespace>>>;

  async function start(cluster: LentKubernetes, ...flags: string[]): Promise<Controller> {
    const { kubeconfigPath: kubeconfig } = cluster;
    const started = await startController({ kubeconfig, databaseUrl: database.url, encryptionKey, flags });
    running.push(started);
    await until("it leads", () => started.lines.some((line) => line.includes("leads")));
    return started;
  }

  /** The key of each place as the store has it, and its Secret's version. */
  async function standing(): Promise<
    Record<ScopedKeyName, { keyId: string; state: string; current: number; secret: string }>
  > {
    const stored = await listKeys(store.db, { limit: 100 });
    const entries = PLACES.map(async (place) => {
      const { status } = (await worlds[place].key("reader")) ?? {};
      const secret = await worlds[place].read<VersionedObject>(worlds[place].secretPath("reader"));
      const keyId = String(status?.keyID);
      const state = stored.find(({ id }) => id === keyId)?.state ?? "none";
      return [
        place,
        { keyId, state, current: status?.currentVersion ?? 0, secret: secret?.metadata.resourceVersion ?? "" },
      ];
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  /** Has a declaration vanish while no controller serves it: its finalizer is stripped by a human (threats c13). */
  async function vanish(place: ScopedKeyName): Promise<void> {
    const path = worlds[place].path("platformkeys", "reader");
    await worlds[place].change(path, { metadata: { finalizers: null } });
    await worlds[place].remove(path);
  }

  beforeAll(async () => {
    [clusters, database] = await Promise.all([Promise.all([lendKubernetes(), lendKubernetes()]), migratedDatabase()]);
    const [first, second] = clusters;
    if (first === undefined || second === undefined) throw new Error("two clusters were started");
    store = await openPostgres(database.url);
    worlds = {
      "first/a": inNamespace(first, "a"),
      "first/b": inNamespace(first, "b"),
      "second/a": inNamespace(second, "a"),
    };
    for (const cluster of clusters) {
      for (const name of ["a", "b"]) {
        await cluster.request("POST", "/api/v1/namespaces", { body: JSON.stringify({ metadata: { name } }) });
      }
    }
    [ofA, ofB] = await Promise.all([
      start(first, "--namespaces", "a"),
      start(first, "--namespaces", "b"),
      start(second),
    ]);
  });

  afterAll(async () => {
    await Promise.all([...running].map((controller) => controller.stop()));
    await store?.close();
    await database?.drop();
    await Promise.all(clusters.map((cluster) => cluster.close()));
  });

  it("makes a key for each of three declarations of one name", async () => {
    await Promise.all(PLACES.map((place) => worlds[place].apply(MANIFESTS)));
    await Promise.all(PLACES.map((place) => worlds[place].ready("reader")));
    const there = await standing();
    expect(new Set(PLACES.map((place) => there[place].keyId)).size).toBe(3);
    const stored = await listKeys(store.db, { limit: 100 });
    expect(stored.map(({ id }) => id).sort()).toEqual(PLACES.map((place) => there[place].keyId).sort());
  });

  it.each(PLACES)("changes nothing elsewhere when the key of %s is rotated", async (place) => {
    const before = await standing();
    await worlds[place].changeKey("reader", { rotation: { trigger: "now" } });
    await worlds[place].holds("is rotated", "reader", ({ status }) => status?.currentVersion === 2);
    const { [place]: mine, ...others } = await standing();
    const { [place]: was, ...othersWere } = before;
    expect(mine.secret).not.toBe(was.secret);
    expect(others).toEqual(othersWere);
  });

  it("takes a namespace from a team in its own cluster alone", async () => {
    await worlds["second/a"].change(TEAM, { spec: { namespaces: ["b"] } });
    await worlds["second/a"].holds("has no team", "reader", (_, reason) => reason === "NamespaceUnclaimed");
    await worlds["first/a"].changeKey("reader", { displayName: "Changed" });
    await worlds["first/a"].ready("reader");
    await worlds["second/a"].change(TEAM, { spec: { namespaces: ["a", "b"] } });
    await worlds["second/a"].ready("reader");
  });

  it("c13: garbage collection revokes the orphans of its own scope, and none of another's", async () => {
    const team = async () => (await worlds["first/a"].read<VersionedObject>(TEAM))?.metadata.resourceVersion;
    const before = await standing();
    await Promise.all([ofA.stop(), ofB.stop()]);
    await vanish("first/a");
    await vanish("first/b");
    const teamBefore = await team();
    const [first] = clusters;
    if (first === undefined) throw new Error("no cluster");
    await start(first, "--namespaces", "a");
    const states = async () => {
      const stored = await listKeys(store.db, { limit: 100 });
      return Object.fromEntries(
        PLACES.map((place) => [place, stored.find(({ id }) => id === before[place].keyId)?.state]),
      );
    };
    await until("the orphan is revoked", async () => (await states())["first/a"] === "revoked", LATER);
    expect(await states()).toEqual({ "first/a": "revoked", "first/b": "active", "second/a": "active" });
    expect(await standing()).toMatchObject({ "second/a": before["second/a"] });
    expect(await team(), "a team that two serve is at rest").toBe(teamBefore);
  });
});
