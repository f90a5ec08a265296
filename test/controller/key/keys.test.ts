import { expect, it } from "vitest";
import { keyPrefix } from "../../../domain/key/secret/key-format.ts";
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
    expect(keyPrefix(plaintext)).toHaveLength(12);
    expect(stored.versions[0]?.prefix).toBe(keyPrefix(plaintext));
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

  it("b124: has the networks that it declares, and those and the limits of its team, and others or none from then on", async (context) => {
    const world = await startWorld(context, setup(), key("agent", { allowedCIDRs: ["203.0.113.0/24"] }));
    const plaintext = await world.plaintextOf("agent");
    const bounds = () => {
      const { state, allowedCIDRs, teamAllowedCIDRs, teamLimits } = world.record(plaintext) ?? {};
      return { state, allowedCIDRs, teamAllowedCIDRs, teamLimits };
    };
    const none = { state: "active", allowedCIDRs: null, teamAllowedCIDRs: null, teamLimits: null };
    expect(bounds()).toEqual({ ...none, allowedCIDRs: ["203.0.113.0/24"] });
    const allowedCIDRs = ["10.0.0.0/8", "::/0"];
    const rateLimit = { requestsPerMinute: 600, concurrent: 20 };
    await world.declare(team("team-a", [NAMESPACE], { allowedCIDRs, rateLimit }), key("agent"));
    expect(bounds()).toEqual({
      ...{ ...none, teamAllowedCIDRs: allowedCIDRs },
      teamLimits: { rate: { requestsPerMinute: 600, burst: 600, scope: "Replica" }, concurrent: 20 },
    });
    await world.declare(team("team-a", [NAMESPACE], { rateLimit: { concurrent: 5 } }));
    expect(bounds()).toEqual({ ...none, teamLimits: { rate: null, concurrent: 5 } });
    await world.declare(team("team-a", [NAMESPACE]));
    expect(bounds()).toEqual(none);
    expect((await world.stored("agent")).versions).toHaveLength(1);
  });

  it("is suspended and resumed with the same secret; one that begins suspended is minted then, one Revoked never", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      key("agent"),
      key("sleeper", { state: "Suspended" }),
      key("never", { state: "Revoked" }),
    );
    const plaintext = await world.plaintextOf("agent");
    expect([await world.keyIn("sleeper"), await world.keyIn("never")]).toEqual([undefined, undefined]);
    expect((await world.storedKeys()).map(({ name }) => name)).toEqual(["agent"]);
    expect(world.condition("Ready", "sleeper")).toBe("True/Suspended");
    expect(world.condition("Ready", "never")).toBe("True/Revoked");
    await world.declare(key("agent", { state: "Suspended" }));
    expect(world.decide(plaintext)).toBe("unauthorized");
    expect(world.condition("Ready", "agent")).toBe("True/Suspended");
    await world.declare(key("agent", { state: "Active" }), key("sleeper"));
    expect(world.decide(plaintext)).toBe("allowed");
    expect(await world.plaintextOf("agent")).toBe(plaintext);
    expect(world.decide(await world.plaintextOf("sleeper"))).toBe("allowed");
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

  it("ends with its declaration: revoked first, then its Secret and the object are gone; made again, it is another", async (context) => {
    const orphan = key("orphan", { secret: { creationPolicy: "Orphan" } });
    const lost = key("lost", { secret: { onLost: "Report" } });
    const world = await startWorld(context, setup(), key("agent"), lost, orphan, key("other"));
    const plaintext = await world.plaintextOf("agent");
    const [ofLost, ofOrphan] = [await world.plaintextOf("lost"), await world.plaintextOf("orphan")];
    expect(world.condition("Ready", "orphan")).toBe("True/Ready");
    await world.remove(key("agent"));
    expect(world.decide(plaintext)).toBe("unauthorized");
    expect(await world.readSecret("agent")).toBeUndefined();
    expect(world.decide(await world.plaintextOf("other"))).toBe("allowed");
    const revoked = (await world.storedKeys()).find(({ name }) => name === "agent");
    expect(revoked?.revocation?.reason).toBe("Deleted");
    expect(revoked?.revocation?.seq).toBeGreaterThan(0);

    await world.declare(key("agent"));
    const next = await world.plaintextOf("agent");
    expect(next).not.toBe(plaintext);
    expect([world.decide(plaintext), world.decide(next)]).toEqual(["unauthorized", "allowed"]);

    await world.loseSecret("lost");
    await world.remove(lost, orphan);
    await until("a key whose Secret went first is refused", () => world.decide(ofLost) === "unauthorized");
    expect(await world.keyIn("orphan"), "its Secret stays, with a key that no longer works").toBe(ofOrphan);
    await until("every replica has confirmed it", () => world.decide(ofOrphan) === "unauthorized");
  });

  it("with deletionPolicy Retain works on without its declaration, and with deletionProtection is not deleted before that goes", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      key("retained", { deletionPolicy: "Retain" }),
      key("protected", { deletionProtection: true }),
      key("other"),
    );
    const retained = await world.plaintextOf("retained");
    const plaintext = await world.plaintextOf("protected");
    await world.remove(key("retained"));
    await world.undeclare(key("protected"));
    await until("the condition", () => world.condition("Ready", "protected") === "False/DeletionProtected");
    for (const state of ["at first", "after a restart"]) {
      if (state === "after a restart") await world.restart();
      expect([world.decide(retained), world.decide(plaintext)], state).toEqual(["allowed", "allowed"]);
      expect([await world.keyIn("retained"), await world.keyIn("protected")], state).toEqual([retained, plaintext]);
    }
    await world.write(key("protected", { deletionProtection: false }));
    await until("it is refused", () => world.decide(plaintext) === "unauthorized");

    await world.declare(key("retained"));
    expect(world.condition("SecretDelivered", "retained"), "the retained Secret has no owner").toBe(
      "False/SecretConflict",
    );
    expect(await world.keyIn("retained")).toBe(retained);
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
});

const UPSTREAM = {
  name: "openai",
  dialect: "openai",
  baseURL: "https://api.example.com",
  credentialRef: { name: "provider", key: "api-key" },
};
