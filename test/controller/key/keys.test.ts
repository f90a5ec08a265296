import { expect, it } from "vitest";
import { keyPrefix } from "../../../domain/key/secret/key-format.ts";
import { change } from "../../../store/database/change.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { requestRotation } from "../../../store/keys/lifecycle/rotation-request.ts";
import { until } from "../../env/until.ts";
import { describeWorldsNightlyOnEachEngine } from "../fixtures/setup.ts";
import { key, library, NAMESPACE, startWorld, team } from "../fixtures/world.ts";

describeWorldsNightlyOnEachEngine("a declared key", (setup) => {
  it("is minted once, delivered to its Secret, and works at the moment its Secret can be read", async (context) => {
    const world = await startWorld(context, setup());
    await world.write(key("reader", { secret: { name: "reader-key" } }));
    const plaintext = await until("a Secret", () => world.keyIn("reader-key"));
    expect(world.decide(plaintext)).toBe("allowed");
    expect(world.decide(plaintext, "atoms.create")).toBe("forbidden");
    await world.rest();
    expect(await world.keyIn("reader-key")).toBe(plaintext);
    const stored = await world.stored("reader");
    expect(stored.versions.map(({ number, state }) => [number, state])).toEqual([[1, "active"]]);
    expect(stored.teamId).toBe(world.record(plaintext)?.teamId);
    expect(await world.storedKeys()).toHaveLength(1);
    expect(world.condition("Ready", "reader")).toBe("True/Ready");
  });

  it("changes its name, scopes, libraries, binding and end with the same secret", async (context) => {
    const world = await startWorld(context, setup(), library("one"), library("two"), key("agent"));
    const plaintext = await world.plaintextOf("agent");
    const libraryId = (name: string) => String(world.get("MemoryLibrary", name)?.status?.libraryID);

    await world.declare(key("agent", { displayName: "Renamed", preset: "MCPReadWrite" }));
    expect(world.decide(plaintext, "atoms.create")).toBe("allowed");
    expect((await world.stored("agent")).policy.displayName).toBe("Renamed");

    const restricted = (...names: string[]) => ({
      libraryAccess: { mode: "Restricted", libraryRefs: names.map((name) => ({ name })) },
    });
    await world.declare(key("agent", { ...restricted("one"), mcpDefaultLibraryRef: { name: "one" } }));
    expect(world.record(plaintext)?.libraryIds).toEqual([libraryId("one")]);
    expect(world.record(plaintext)?.mcpDefaultLibraryId).toBe(libraryId("one"));
    expect(world.decide(plaintext, "atoms.create")).toBe("forbidden");
    await world.declare(key("agent", restricted("one", "two")));
    expect([...(world.record(plaintext)?.libraryIds ?? [])].sort()).toEqual(
      [libraryId("one"), libraryId("two")].sort(),
    );

    const publicID = `g-${world.clusterUid()}`;
    await world.declare({ kind: "ModelGateway", name: "main", spec: { publicID, upstreams: [UPSTREAM] } });
    await world.declare(key("agent", { preset: "GatewayDefault", gatewayRef: { name: "main" } }));
    expect(world.decide(plaintext, "gateway.chat_completions", publicID)).toBe("allowed");
    expect(world.decide(plaintext, "gateway.chat_completions", "another")).toBe("forbidden");

    const expiresAt = new Date(world.clock.now() + 60_000).toISOString();
    await world.declare(key("agent", { expiresAt }));
    expect(world.record(plaintext)?.expiresAt).toBe(Date.parse(expiresAt));

    expect(await world.plaintextOf("agent")).toBe(plaintext);
    expect((await world.stored("agent")).versions).toHaveLength(1);
  });

  it("is used from the networks that it and its team declare, and from anywhere again where they do no more", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { allowedCIDRs: ["203.0.113.0/24"] }));
    const plaintext = await world.plaintextOf("agent");
    const lists = () => {
      const { allowedCIDRs, teamAllowedCIDRs, state } = world.record(plaintext) ?? {};
      return { state, allowedCIDRs, teamAllowedCIDRs };
    };
    expect(lists()).toEqual({ state: "active", allowedCIDRs: ["203.0.113.0/24"], teamAllowedCIDRs: null });
    await world.declare(team("team-a", [NAMESPACE], { allowedCIDRs: ["10.0.0.0/8", "::/0"] }), key("agent"));
    expect(lists()).toEqual({ state: "active", allowedCIDRs: null, teamAllowedCIDRs: ["10.0.0.0/8", "::/0"] });
    await world.declare(team("team-a", [NAMESPACE]));
    expect(lists()).toEqual({ state: "active", allowedCIDRs: null, teamAllowedCIDRs: null });
    expect((await world.stored("agent")).versions).toHaveLength(1);
  });

  it("b124: has the limits that its team declares, and others or none from then on", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const plaintext = await world.plaintextOf("agent");
    const limits = () => world.record(plaintext)?.teamLimits;
    expect(limits()).toBeNull();
    const rateLimit = { requestsPerMinute: 600, concurrent: 20 };
    await world.declare(team("team-a", [NAMESPACE], { rateLimit }));
    expect(limits()).toEqual({ rate: { requestsPerMinute: 600, burst: 600, scope: "Replica" }, concurrent: 20 });
    await world.declare(team("team-a", [NAMESPACE], { rateLimit: { concurrent: 5 } }));
    expect(limits()).toEqual({ rate: null, concurrent: 5 });
    await world.declare(team("team-a", [NAMESPACE]));
    expect(limits()).toBeNull();
  });

  it("is suspended and resumed with the same secret", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await world.declare(key("agent", { state: "Suspended" }));
    expect(world.decide(plaintext)).toBe("unauthorized");
    expect(world.condition("Ready", "agent")).toBe("True/Suspended");
    await world.declare(key("agent", { state: "Active" }));
    expect(world.decide(plaintext)).toBe("allowed");
    expect(await world.plaintextOf("agent")).toBe(plaintext);
  });

  it("that begins suspended is minted when it is resumed", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { state: "Suspended" }));
    expect(await world.keyIn("agent")).toBeUndefined();
    expect(world.condition("Ready", "agent")).toBe("True/Suspended");
    await world.declare(key("agent"));
    expect(world.decide(await world.plaintextOf("agent"))).toBe("allowed");
  });

  it("that is declared Revoked is refused for ever, and says since when on every replica", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await world.declare(key("agent", { state: "Revoked" }));
    expect(world.decide(plaintext)).toBe("unauthorized");
    expect(world.condition("Ready", "agent")).toBe("True/Revoked");
    const { revocation } = await world.status("agent");
    expect(revocation?.sequence).toBeGreaterThan(0);
    expect(Date.parse(revocation?.confirmedAt ?? "")).toBeLessThanOrEqual(world.clock.now());

    await world.write(key("agent", { state: "Active" }));
    await until("the fault is logged", () => world.lines.some((line) => line.includes("Revoked is final")));
    await world.rest();
    expect(world.decide(plaintext)).toBe("unauthorized");
    expect(await world.storedKeys()).toHaveLength(1);
  });

  it("that is declared Revoked at once is never minted", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { state: "Revoked" }));
    expect(await world.keyIn("agent")).toBeUndefined();
    expect(await world.storedKeys()).toEqual([]);
    expect(world.condition("Ready", "agent")).toBe("True/Revoked");
  });

  it("that was revoked by hand stays so, until its declaration is deleted and made again", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const plaintext = await world.plaintextOf("agent");
    const { id } = await world.stored("agent");
    await change(setup().store, null, (tx) => revokeKey(tx, id, "ByHand"));
    world.poke("agent");
    await until("the condition", () => world.condition("Ready", "agent") === "False/Revoked");
    expect(world.condition("Stalled", "agent")).toBe("True/Revoked");
    await world.declare(key("agent", { displayName: "Edited since", rotation: { trigger: "now" } }));
    await world.loseSecret("agent");
    await world.restart();
    expect(await world.keyIn("agent")).toBeUndefined();
    expect(world.condition("Ready", "agent")).toBe("False/Revoked");

    await world.remove(key("agent"));
    await world.declare(key("agent"));
    const fresh = await world.plaintextOf("agent");
    expect(fresh).not.toBe(plaintext);
    expect(world.decide(fresh)).toBe("allowed");
    await until("refused", () => world.decide(plaintext) === "unauthorized");
  });

  it("ends with its declaration: revoked first, then its Secret and the object are gone", async (context) => {
    const world = await startWorld(context, setup(), key("agent"), key("other"));
    const plaintext = await world.plaintextOf("agent");
    await world.remove(key("agent"));
    expect(world.decide(plaintext)).toBe("unauthorized");
    expect(await world.readSecret("agent")).toBeUndefined();
    expect(world.decide(await world.plaintextOf("other"))).toBe("allowed");
    const revoked = (await world.storedKeys()).find(({ name }) => name === "agent");
    expect(revoked?.revocation?.reason).toBe("Deleted");
    expect(revoked?.revocation?.seq).toBeGreaterThan(0);
  });

  it("ends with its declaration even when its Secret went first", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { secret: { onLost: "Report" } }), key("other"));
    const plaintext = await world.plaintextOf("agent");
    await world.loseSecret("agent");
    await world.remove(key("agent"));
    await until("every replica has confirmed it", () => world.decide(plaintext) === "unauthorized");
  });

  it("made again by the same name is another key; the old secret stays refused", async (context) => {
    const world = await startWorld(context, setup(), key("agent"), key("other"));
    const first = await world.plaintextOf("agent");
    await world.remove(key("agent"));
    await world.declare(key("agent"));
    const second = await world.plaintextOf("agent");
    expect(second).not.toBe(first);
    expect([world.decide(first), world.decide(second)]).toEqual(["unauthorized", "allowed"]);
  });

  it("with deletionPolicy Retain works on without its declaration, and its Secret stays", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { deletionPolicy: "Retain" }), key("other"));
    const plaintext = await world.plaintextOf("agent");
    await world.remove(key("agent"));
    expect(await world.keyIn("agent")).toBe(plaintext);
    expect(world.decide(plaintext)).toBe("allowed");
    await world.restart();
    expect(await world.keyIn("agent")).toBe(plaintext);
    expect(world.decide(plaintext)).toBe("allowed");

    await world.declare(key("agent"));
    expect(world.condition("SecretDelivered", "agent"), "the retained Secret has no owner").toBe(
      "False/SecretConflict",
    );
    expect(await world.keyIn("agent")).toBe(plaintext);
  });

  it("with creationPolicy Orphan leaves its Secret behind, with a key that no longer works", async (context) => {
    const orphan = key("agent", { secret: { creationPolicy: "Orphan" } });
    const world = await startWorld(context, setup(), orphan, key("other"));
    const plaintext = await world.plaintextOf("agent");
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
    await world.remove(key("agent"));
    expect(await world.keyIn("agent")).toBe(plaintext);
    await until("every replica has confirmed it", () => world.decide(plaintext) === "unauthorized");
  });

  it("with deletionProtection is not deleted before the protection is taken away", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { deletionProtection: true }), key("other"));
    const plaintext = await world.plaintextOf("agent");
    await world.undeclare(key("agent"));
    await until("the condition", () => world.condition("Ready", "agent") === "False/DeletionProtected");
    await world.restart();
    expect(world.decide(plaintext)).toBe("allowed");
    expect(await world.keyIn("agent")).toBe(plaintext);

    await world.write(key("agent", { deletionProtection: false }));
    await until("it is refused", () => world.decide(plaintext) === "unauthorized");
  });

  it("is in the files of its template, and is rendered again without a new secret", async (context) => {
    const template = (name: string) => key("agent", { scopes: ["memory:read"], secret: { template: name } });
    const world = await startWorld(context, setup(), template("McpConfig"));
    const plaintext = await world.plaintextOf("agent");
    const config = JSON.parse((await world.readSecret("agent"))?.["mcp.json"] ?? "");
    expect(config.mcpServers.memory).toMatchObject({
      url: "https://keys.example.com/api/v1/memory/mcp",
      headers: { Authorization: `Bearer ${plaintext}`, Accept: "application/json, text/event-stream" },
    });
    await world.declare(template("Env"));
    expect(await world.readSecret("agent")).toEqual({
      "api-key": plaintext,
      KEYPLANE_API_KEY: plaintext,
      KEYPLANE_BASE_URL: "https://keys.example.com",
    });
    await world.declare(template("ServiceBinding"));
    expect(await world.readSecret("agent")).toEqual({
      "api-key": plaintext,
      type: "keyplane",
      provider: "keyplane",
      uri: "https://keys.example.com",
      password: plaintext,
      scopes: "memory:read",
    });
    expect((await world.stored("agent")).versions).toHaveLength(1);
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
  });

  it("is rotated by hand, and with the old one revoked there is no overlap", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const first = await world.plaintextOf("agent");
    const { id } = await world.stored("agent");
    const ask = (revokeOld: boolean) => change(setup().store, null, (tx) => requestRotation(tx, id, revokeOld));
    await ask(false);
    world.poke("agent");
    const second = await until("a new key", async () => differs(await world.keyIn("agent"), first));
    await world.rest();
    expect([world.decide(first), world.decide(second)]).toEqual(["allowed", "allowed"]);
    await ask(true);
    world.poke("agent");
    const third = await until("a new key", async () => differs(await world.keyIn("agent"), second));
    await world.rest();
    expect([first, second, third].map((each) => world.decide(each))).toEqual([
      "unauthorized",
      "unauthorized",
      "allowed",
    ]);
  });

  it("is known by its first twelve characters, in the store and in its status", async (context) => {
    const world = await startWorld(context, setup(), team("team-b", ["other"]), key("agent", {}, "other"));
    const prefix = keyPrefix(await world.plaintextOf("agent", "other"));
    expect((await world.stored("agent", "other")).versions[0]?.prefix).toBe(prefix);
    expect((await world.status("agent", "other")).keyPrefix).toBe(prefix);
    expect((await world.status("agent", "other")).team).toBe("team-b");
    expect(prefix).toHaveLength(12);
    expect(world.get("PlatformKey", "agent", NAMESPACE)).toBeUndefined();
  });
});

const UPSTREAM = {
  name: "openai",
  dialect: "openai",
  baseURL: "https://api.example.com",
  credentialRef: { name: "provider", key: "api-key" },
};

const differs = (value: string | undefined, other: string) => (value === other ? undefined : value);
