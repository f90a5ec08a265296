import { sql } from "kysely";
import { expect, it } from "vitest";
import { ClusterError } from "../../controller/cluster/port.ts";
import { CONDITION_TYPES, REASONS } from "../../domain/conditions.ts";
import { findKeyDeclaration } from "../../store/keys/rows/key-declarations.ts";
import { recordUsage } from "../../store/keys/uses/usage.ts";
import { until } from "../env/until.ts";
import { withCalls } from "./fixtures/cluster-calls.ts";
import { describeWorlds } from "./fixtures/setup.ts";
import { HOUR, key, library, startWorld, team, type World } from "./fixtures/world.ts";

/** Keys in as many states as can be declared at once, by what they show. */
const STATES = {
  fine: [key("fine"), "True/Ready"],
  suspended: [key("suspended", { state: "Suspended" }), "True/Suspended"],
  expired: [key("expired", { expiresAt: "2020-01-01T00:00:00Z" }), "False/Expired"],
  revoked: [key("revoked", { state: "Revoked" }), "True/Revoked"],
  lost: [
    key("lost", { libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "missing" }] } }),
    "False/ReferenceNotFound",
  ],
} as const;

const DAY = 24 * HOUR;
const conditionsOf = (world: World, name: string) => world.get("PlatformKey", name)?.status?.conditions ?? [];

describeWorlds("the status of a key", (setup) => {
  it("says in the terms of the catalogue how each key is, in a form that kstatus reads, and once what to do", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      ...Object.values(STATES).map(([manifest]) => manifest),
      ...[team("team-b", ["other"]), key("elsewhere", {}, "other")],
    );
    for (const [name, [, ready]] of Object.entries(STATES)) {
      expect(world.condition("Ready", name), name).toBe(ready);
      const types = conditionsOf(world, name).map(({ type }) => type);
      expect(new Set(types).size, "one of each type").toBe(types.length);
      expect(types.slice(0, 6)).toEqual([
        "Ready",
        "Accepted",
        "ResolvedRefs",
        "SecretDelivered",
        "Enforced",
        "Rotating",
      ]);
      for (const condition of conditionsOf(world, name)) {
        expect(CONDITION_TYPES, name).toContain(condition.type);
        expect(Object.keys(REASONS), name).toContain(condition.reason);
        expect(condition.reason).toMatch(/^[A-Z][A-Za-z]+$/);
        expect(condition.message).not.toBe("");
        expect(condition.lastTransitionTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        expect(condition.observedGeneration).toBe(1);
      }
      const abnormal = conditionsOf(world, name).filter(({ type }) => type === "Reconciling" || type === "Stalled");
      expect(
        abnormal.map(({ type, status }) => `${type}=${status}`),
        "present only while True",
      ).toEqual(ready.startsWith("True") ? [] : [name === "expired" ? "Stalled=True" : "Reconciling=True"]);
    }

    await world.editSecret("agent", "another value");
    await world.declare(key("agent"));
    for (const { reason, message } of ["agent", "lost", "expired"].flatMap((name) => conditionsOf(world, name))) {
      const advice = REASONS[reason as keyof typeof REASONS];
      if (advice !== "") expect(message.split(advice).length, message).toBeLessThanOrEqual(2);
    }
    expect(
      world.lines.filter((line) => line.includes("NamespaceUnclaimed")),
      "none is written before a namespace's team is known",
    ).toEqual([]);
    const conflict = conditionsOf(world, "agent").find(({ type }) => type === "Ready")?.message;
    expect(conflict).toBe(`Secret agent exists and is not this key's. ${REASONS.SecretConflict}`);
  });

  it("has the key's id, prefix, team, scopes, Secret and versions", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      library("notes"),
      key("agent", { preset: "MCPReadWrite", secret: { name: "agent-key", dataKey: "token" } }),
    );
    const plaintext = (await world.keyIn("agent-key", "token")) ?? expect.fail("no key");
    const { id } = await world.stored("agent");
    expect(await world.status("agent")).toMatchObject({
      observedGeneration: 1,
      keyID: id,
      keyPrefix: plaintext.slice(0, 12),
      team: "team-a",
      effectiveScopes: ["memory:read", "memory:write"],
      secretRef: { name: "agent-key", dataKey: "token" },
      currentVersion: 1,
      versions: [{ number: 1, keyPrefix: plaintext.slice(0, 12), state: "Active" }],
    });
    await world.declare(key("agent", { secret: { name: "agent-key", dataKey: "token" } }));
    const after = await world.status("agent");
    expect([after.observedGeneration, after.keyID, after.effectiveScopes]).toEqual([2, id, ["memory:read"]]);
  });

  it("b472: names the team of an issued key while no team holds its namespace, and none of a key that was not issued", async (context) => {
    const [giving, deleted] = [team("team-b", ["given"]), team("team-c", ["deleted"])];
    const namespaces = ["given", "deleted", "teamless"];
    const keys = namespaces.map((namespace) => key("agent", {}, namespace));
    const world = await startWorld(context, setup(), giving, deleted, ...keys);
    await world.declare(team("team-b", []));
    await world.remove(deleted);
    await world.rest();
    const teamOf = async (namespace: string) => {
      expect(world.condition("Ready", "agent", "PlatformKey", namespace)).toBe("False/NamespaceUnclaimed");
      return (await world.status("agent", namespace)).team;
    };
    expect(await Promise.all(namespaces.map(teamOf))).toEqual(["team-b", "team-c", undefined]);
  });

  it("shows when the key and each of its versions were last used, a day later at the earliest", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { rotation: { trigger: "a" } }));
    await world.declare(key("agent", { rotation: { trigger: "b" } }));
    const { id } = await world.stored("agent");
    const use = async (version: number, at: number) => {
      await recordUsage(setup().store, [{ keyId: id, version, at }]);
      await world.advance(1_000);
      const { lastUsedTime, versions = [] } = await world.status("agent");
      return [lastUsedTime, ...versions.map((one) => one.lastUsedTime)];
    };
    const start = Math.floor(world.clock.now() / 1_000) * 1_000;
    const timeOf = (hours: number) => new Date(start + hours * HOUR).toISOString().replace(".000Z", "Z");
    expect(await use(1, start)).toEqual([timeOf(0), undefined, timeOf(0)]);
    expect(await use(2, start + 23 * HOUR)).toEqual([timeOf(0), timeOf(23), timeOf(0)]);
    expect(await use(2, start + 25 * HOUR)).toEqual([timeOf(25), timeOf(23), timeOf(0)]);
  });

  it("c123: says since when its present revocation is confirmed, and not one that a restored database has lost", async (context) => {
    const names = ["same", "later", "renumbered"];
    const world = await startWorld(context, setup(), ...names.map((name) => key(name)));
    await world.declare(...names.map((name) => key(name, { state: "Revoked" })));
    const confirmedAt = async (name: string) => (await world.status(name)).revocation?.confirmedAt ?? expect.fail(name);
    const before = await Promise.all(names.map(confirmedAt));
    const [, later, renumbered] = await Promise.all(names.map((name) => world.stored(name)));
    await world.advance(2_000);
    await world.stop();
    const { db } = world.store;
    await sql`update keys set revoked_at = revoked_at + interval '2 s' where id = ${later?.id}`.execute(db);
    await sql`update keys set revoked_seq = revoked_seq + 1 where id = ${renumbered?.id}`.execute(db);
    await world.start();
    await world.rest();
    const isKept = async (name: string, i: number) => (await confirmedAt(name)) === before[i];
    expect(await Promise.all(names.map(isKept))).toEqual([true, false, false]);
  });

  it("c123: says once since when a revocation is confirmed where the database's clock was set back", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    await world.declare(key("agent", { state: "Revoked" }));
    const { id } = (await world.stored("agent")) ?? expect.fail();
    await world.stop();
    await sql`update keys set revoked_at = revoked_at + interval '1 h' where id = ${id}`.execute(world.store.db);
    await world.start();
    await world.rest();
    const written = await world.status("agent");
    expect(written.revocation?.confirmedAt).toBeDefined();
    await world.advance(60_000);
    expect((await world.status("agent")).revocation).toEqual(written.revocation);
  });

  it("keeps a condition's transition time for as long as it stands", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const times = () =>
      Object.fromEntries(conditionsOf(world, "agent").map((one) => [one.type, one.lastTransitionTime]));
    const before = times();
    await world.advance(60_000);
    await world.declare(key("agent", { displayName: "Another name" }));
    expect(times()).toEqual(before);
    await world.declare(key("agent", { state: "Suspended" }));
    expect(times().Ready, "still True").toBe(before.Ready);
    await world.declare(key("agent", { libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "missing" }] } }));
    expect(Date.parse(times().Ready ?? "")).toBeGreaterThan(Date.parse(before.Ready ?? ""));
  });

  it("b465: warns once of a near end while a lost Secret, or the next version in one, cannot be written", async (context) => {
    let fails = false;
    const unlessFailing = <T>(write: () => Promise<T>) =>
      fails ? Promise.reject(new ClusterError("Unclear", "the webhook does not answer")) : write();
    const wrap = withCalls(({ createSecret, replaceSecret }) => ({
      createSecret: (draft) => unlessFailing(() => createSecret(draft)),
      replaceSecret: (read, draft) => unlessFailing(() => replaceSecret(read, draft)),
    }));
    const spec = { expiresAt: new Date(Date.now() + 30 * DAY).toISOString() };
    const names = ["lost", "rotated"];
    const world = await startWorld(context, { ...setup(), wrap }, ...names.map((name) => key(name, spec)));
    fails = true;
    await world.loseSecret("lost");
    await world.write(key("rotated", { ...spec, rotation: { trigger: "now" } }));
    const all = (holds: (name: string) => boolean) => () => names.every(holds);
    await until(
      "both fail",
      all((name) => world.condition("Reconciling", name) === "True/Retrying"),
    );
    const passing = world.advance(24 * DAY);
    await until(
      "both are said to end",
      all((name) => world.get("PlatformKey", name)?.status?.expiryWarned !== undefined),
    );
    fails = false;
    await passing;
    for (const name of names) {
      expect(world.condition("Ready", name)).toBe("True/Ready");
      expect(world.lines.filter((line) => line.includes(`${name}: Expiring: `))).toHaveLength(1);
    }
  });
});

describeWorlds("a key with restart targets", (setup) => {
  const withTargets = (trigger: string, more = {}) =>
    key("agent", {
      ...more,
      rotation: { trigger },
      restartTargets: [
        { kind: "Deployment", name: "gone" },
        { kind: "Deployment", name: "barred" },
        { kind: "Deployment", name: "denied" },
        { kind: "Deployment", name: "agent" },
      ],
    });

  it("restarts each once a version, and is not held up by those that are not there or may not be, or that admission denies", async (context) => {
    const restarts: string[] = [];
    const failing = new Map([
      ["gone", "NotFound"],
      ["barred", "Forbidden"],
      ["denied", "Refused"],
    ] as const);
    const world = await startWorld(
      context,
      {
        ...setup(),
        wrap: withCalls(() => ({
          async restartWorkload(namespace, target, { value }) {
            const code = failing.get(target.name as "gone" | "barred" | "denied");
            if (code !== undefined) throw new ClusterError(code, `no Deployment ${namespace}/${target.name} for us`);
            restarts.push(`${target.kind} ${namespace}/${target.name} for ${value}`);
          },
        })),
      },
      withTargets("first"),
    );
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    await world.declare(withTargets("second"));
    await world.restart();
    const { keyID, versions = [] } = await world.status("agent");
    const restartOf = (number: number) =>
      `Deployment dev/agent for ${keyID}.${number}.${versions.find((one) => one.number === number)?.keyPrefix}`;
    expect(restarts).toEqual([restartOf(1), restartOf(2)]);
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    for (const name of failing.keys()) {
      await until("it is reported", () =>
        world.lines.some((line) => line.includes("Deployment") && line.includes(name)),
      );
    }
  });

  it("b465, c95, c111: says which version its Secret has, stays ready, has its declaration recorded and warns of its end while a restart fails, and restarts once that is possible", async (context) => {
    let fails = false;
    const wrap = withCalls(() => ({
      async restartWorkload() {
        if (fails) throw new ClusterError("Unclear", "the webhook does not answer");
      },
    }));
    const expiresAt = new Date(Date.now() + 30 * DAY).toISOString();
    const world = await startWorld(context, { ...setup(), wrap }, withTargets("first", { expiresAt }));
    fails = true;
    await world.write(withTargets("second", { expiresAt, deletionPolicy: "Retain" }));
    const reconciling = () => conditionsOf(world, "agent").find(({ type }) => type === "Reconciling");
    await until("the restart has failed", () => reconciling()?.message.includes("the webhook does not answer"));
    await until("it is ready all the same", () => world.condition("Ready", "agent") === "True/Ready");
    const shown = { observedGeneration: 2, currentVersion: 2, versions: [{ number: 2 }, { number: 1 }] };
    expect(await world.status("agent")).toMatchObject({ ...shown, restartedVersion: 1 });
    expect(reconciling()?.message).toContain("the webhook does not answer");
    const { id } = await world.stored("agent");
    expect(await findKeyDeclaration(world.store.db, id)).toMatchObject({ generation: 2 });
    const confirming = () => world.lines.filter((line) => line.includes("agent: Confirming: ")).length;
    const before = confirming();
    const passing = world.advance(24 * DAY);
    await until("it is said to end", () => world.get("PlatformKey", "agent")?.status?.expiryWarned !== undefined);
    fails = false;
    await passing;
    expect(reconciling()).toBeUndefined();
    expect(await world.status("agent")).toMatchObject({ restartedVersion: 2 });
    expect(world.lines.filter((line) => line.includes("agent: Expiring: "))).toHaveLength(1);
    expect(confirming()).toBe(before);
  });
});
