import { expect, it } from "vitest";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { recordUsage } from "../../../store/keys/uses/usage.ts";
import { saveLibrary } from "../../../store/libraries/libraries.ts";
import { until } from "../../env/until.ts";
import { makeTeam, run } from "../../store/fixtures.ts";
import { describeWorlds } from "../fixtures/setup.ts";
import { key, library, type Manifest, SOON, startWorld, team, type World } from "../fixtures/world.ts";

const restricted = (...names: string[]) => ({
  preset: "MCPReadWrite",
  libraryAccess: { mode: "Restricted", libraryRefs: names.map((name) => ({ name })) },
});
const libraryId = (world: World, name: string) => String(world.get("MemoryLibrary", name)?.status?.libraryID);
const refersTo = (name: string) => ({ preset: "GatewayDefault", gatewayRef: { name } });

function gateway(name: string, publicID: string, spec: Record<string, unknown> = {}, namespace = "dev"): Manifest {
  const upstream = { name: "openai", dialect: "openai", baseURL: "https://api.example.com" };
  const upstreams = [{ ...upstream, credentialRef: { name: "provider", key: "api-key" } }];
  return { kind: "ModelGateway", name, namespace, spec: { publicID, upstreams, ...spec } };
}
const provider = (value: string): Manifest => ({ kind: "Secret", name: "provider", stringData: { "api-key": value } });

let count = 0;
/** Public ids are unique over all worlds of a store. */
const uniqueId = () => `gateway-${++count}`;

describeWorlds("a key that refers to something", (setup) => {
  it("that is missing is not minted before it is there, and says what is missing", async (context) => {
    const world = await startWorld(context, setup(), key("agent", restricted("handbook")));
    expect(await world.keyIn("agent")).toBeUndefined();
    expect(world.condition("ResolvedRefs", "agent")).toBe("False/ReferenceNotFound");
    expect(world.condition("Ready", "agent")).toBe("False/ReferenceNotFound");
    const message = (await world.status("agent")).conditions.find(({ type }) => type === "ResolvedRefs")?.message;
    expect(message).toContain("MemoryLibrary dev/handbook");

    await world.declare(library("handbook"));
    const plaintext = await until("a Secret", () => world.keyIn("agent"));
    await world.rest();
    expect(world.record(plaintext)?.libraryIds).toEqual([libraryId(world, "handbook")]);
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
  });

  it("loses a library that disappears from its list, and gets none in its place", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      library("one"),
      library("two"),
      library("three"),
      key("agent", restricted("one", "two")),
    );
    const plaintext = await world.plaintextOf("agent");
    const one = libraryId(world, "one");
    await world.remove(library("two"));
    await world.rest();
    expect(world.record(plaintext)?.libraryIds).toEqual([one]);
    expect(world.condition("Ready", "agent")).toBe("False/ReferenceNotFound");
    await world.remove(library("one"));
    await world.rest();
    expect(world.record(plaintext)?.libraryIds, "an empty list, not all").toEqual([]);
    expect(await world.plaintextOf("agent")).toBe(plaintext);

    await world.declare(library("one"), library("two"));
    expect(world.record(plaintext)?.libraryIds).toHaveLength(2);
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
  });

  it("whose default library disappears does not write to the team's instead", async (context) => {
    const policy = { mcpAgentPolicy: { defaultLibraryRef: { namespace: "dev", name: "handbook" } } };
    const world = await startWorld(
      context,
      setup(),
      team("team-a", ["dev"], policy),
      library("handbook"),
      library("diary"),
      key("agent", { preset: "MCPReadWrite", mcpDefaultLibraryRef: { name: "diary" } }),
    );
    const plaintext = await world.plaintextOf("agent");
    expect(defaultOf(world, plaintext)).toBe(libraryId(world, "diary"));
    const known = ["handbook", "diary"].map((name) => libraryId(world, name));
    await world.remove(library("diary"));
    await world.rest();
    expect(world.condition("Ready", "agent")).toBe("False/ReferenceNotFound");
    expect(world.record(plaintext)?.mcpDefaultLibraryId).not.toBeNull();
    expect(known).not.toContain(defaultOf(world, plaintext));
  });

  it("is bound to nothing while its gateway is gone", async (context) => {
    const [main, other] = [uniqueId(), uniqueId()];
    const world = await startWorld(
      context,
      setup(),
      provider("sk-one"),
      gateway("main", main),
      gateway("other", other),
      key("caller", refersTo("main")),
    );
    const plaintext = await world.plaintextOf("caller");
    const call = (publicId: string) => world.decide(plaintext, "gateway.chat_completions", publicId);
    expect([call(main), call(other)]).toEqual(["allowed", "forbidden"]);
    await world.remove({ kind: "ModelGateway", name: "main" });
    await world.rest();
    expect([call(main), call(other)]).toEqual(["forbidden", "forbidden"]);
    expect(world.record(plaintext)?.boundGatewayId).toBe("");
    expect(world.condition("ResolvedRefs", "caller")).toBe("False/ReferenceNotFound");
    await world.declare(gateway("main", main));
    expect([call(main), call(other)]).toEqual(["allowed", "forbidden"]);
    expect(await world.plaintextOf("caller")).toBe(plaintext);
  });

  it("b67: of another team does not get it", async (context) => {
    const other = uniqueId();
    const world = await startWorld(
      context,
      setup(),
      team("team-b", ["theirs"]),
      library("secret", {}, "theirs"),
      gateway("main", other, {}, "theirs"),
      key("reader", {
        libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "secret", namespace: "theirs" }] },
      }),
      key("caller", { preset: "GatewayDefault", gatewayRef: { name: "main", namespace: "theirs" } }),
    );
    for (const name of ["reader", "caller"]) {
      expect(await world.keyIn(name)).toBeUndefined();
      expect(world.condition("Ready", name)).toBe("False/ReferenceNotFound");
    }
  });

  it("in another namespace of its team gets it", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      team("team-a", ["dev", "shared"]),
      library("handbook", {}, "shared"),
      key("reader", {
        libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook", namespace: "shared" }] },
      }),
    );
    const record = world.record(await world.plaintextOf("reader"));
    const id = world.get("MemoryLibrary", "handbook", "shared")?.status?.libraryID;
    expect(record?.libraryIds).toEqual([id]);
  });
});

const defaultOf = (world: World, plaintext: string) => {
  const record = world.record(plaintext);
  return record?.mcpDefaultLibraryId ?? record?.teamDefaultLibraryId;
};

describeWorlds("a namespace", (setup) => {
  it("that no team claims has no keys, and says so", async (context) => {
    const world = await startWorld(context, setup(), key("agent", {}, "teamless"), library("notes", {}, "teamless"));
    expect(await world.keyIn("agent", "api-key", "teamless")).toBeUndefined();
    expect(world.condition("Ready", "agent", "PlatformKey", "teamless")).toBe("False/NamespaceUnclaimed");
    expect(world.condition("Accepted", "notes", "MemoryLibrary", "teamless")).toBe("False/NamespaceUnclaimed");
    await world.declare(team("team-b", ["teamless"]));
    expect(world.condition("Ready", "agent", "PlatformKey", "teamless")).toBe("True/Ready");
    expect(world.condition("Ready", "notes", "MemoryLibrary", "teamless")).toBe("True/Ready");
  });

  it("whose team another controller has stored is noticed without a round over every object", async (context) => {
    const unrepaired = { ...setup(), intervalsMs: { ...SOON.intervalsMs, resync: 3_600_000 } };
    const world = await startWorld(context, unrepaired, key("agent", {}, "served"));
    expect(world.condition("Ready", "agent", "PlatformKey", "served")).toBe("False/NamespaceUnclaimed");
    await makeTeam(unrepaired.store, { cluster: world.clusterUid(), namespaces: [`served${world.tag}`] });
    await until("its key", () => world.keyIn("agent", "api-key", "served"));
    await world.rest();
    expect(world.condition("Ready", "agent", "PlatformKey", "served")).toBe("True/Ready");
  });

  it("that loses its team has its keys suspended, and working again with it", async (context) => {
    const world = await startWorld(context, setup(), team("team-b", ["other"]), key("agent", {}, "other"));
    const plaintext = await world.plaintextOf("agent", "other");
    await world.declare(team("team-b", []));
    expect(world.decide(plaintext)).toBe("unauthorized");
    expect(world.condition("Ready", "agent", "PlatformKey", "other")).toBe("False/NamespaceUnclaimed");
    await world.declare(team("team-b", ["other"]));
    expect(world.decide(plaintext)).toBe("allowed");
    expect(await world.plaintextOf("agent", "other")).toBe(plaintext);
    expect(world.condition("Ready", "agent", "PlatformKey", "other")).toBe("True/Ready");
  });

  it("whose team is deleted and made again has the same keys", async (context) => {
    const world = await startWorld(context, setup(), team("team-b", ["other"]), key("agent", {}, "other"));
    const plaintext = await world.plaintextOf("agent", "other");
    await world.remove(team("team-b", []));
    await world.rest();
    expect(world.decide(plaintext)).toBe("unauthorized");
    await world.declare(team("team-b", ["other"]));
    expect(world.decide(plaintext)).toBe("allowed");
  });

  it("that is given to another team has its keys revoked and minted anew: a key never moves", async (context) => {
    const world = await startWorld(context, setup(), team("team-b", ["other"]), key("agent", {}, "other"));
    const first = await world.plaintextOf("agent", "other");
    const teamOf = (plaintext: string) => world.record(plaintext)?.teamId;
    const before = teamOf(first);
    const { id: keyId } = await world.stored("agent", "other");
    await recordUsage(setup().store, [{ keyId, version: 1, at: world.clock.now() }]);
    await world.advance(1_000);
    expect((await world.status("agent", "other")).lastUsedTime).toBeDefined();
    await world.declare(team("team-b", []));
    await world.declare(team("team-c", ["other"]));
    const second = await world.plaintextOf("agent", "other");
    expect(second).not.toBe(first);
    expect([world.decide(first), world.decide(second)]).toEqual(["unauthorized", "allowed"]);
    expect(teamOf(second)).not.toBe(before);
    const { team: holder, lastUsedTime, versions } = await world.status("agent", "other");
    expect([holder, lastUsedTime, versions?.[0]?.lastUsedTime]).toEqual(["team-c", undefined, undefined]);
    const reasons = (await world.storedKeys()).map(({ state, revocation }) => [state, revocation?.reason ?? ""]);
    expect(reasons.sort()).toEqual([
      ["active", ""],
      ["revoked", "Moved"],
    ]);
    await world.declare(team("team-c", []));
    await world.declare(team("team-b", ["other"]));
    const third = await world.plaintextOf("agent", "other");
    expect([first, second, third].map((each) => world.decide(each))).toEqual([
      "unauthorized",
      "unauthorized",
      "allowed",
    ]);
  });

  it("b96: that is Keyplane's own is no team's: the team has a condition, and holds its others", async (context) => {
    const claims = team("team-b", ["keyplane", "other"]);
    const world = await startWorld(context, { ...setup(), ownNamespace: "keyplane" }, claims, key("k", {}, "keyplane"));
    expect(world.condition("Accepted", "team-b", "PlatformTeam")).toBe("False/NamespaceTaken");
    const { conditions = [], namespaces } = world.get("PlatformTeam", "team-b")?.status ?? {};
    expect(conditions.find(({ type }) => type === "Accepted")?.message).toContain(
      "keyplane is reserved for the cluster or",
    );
    expect(namespaces).toEqual(["other"]);
    expect(world.condition("Ready", "k", "PlatformKey", "keyplane")).toBe("False/NamespaceUnclaimed");
  });

  it("that two teams claim is the first one's; the other has a condition, and gets it when it is free", async (context) => {
    const world = await startWorld(context, setup(), team("team-b", ["other"]), key("agent", {}, "other"));
    const first = await world.plaintextOf("agent", "other");
    await world.declare(team("aaa", ["other", "own"]));
    expect(world.condition("Accepted", "aaa", "PlatformTeam")).toBe("False/NamespaceTaken");
    expect(world.condition("Ready", "team-b", "PlatformTeam")).toBe("True/Ready");
    expect(world.get("PlatformTeam", "aaa")?.status?.namespaces).toEqual(["own"]);
    await world.restart();
    expect(world.decide(first)).toBe("allowed");
    expect(world.condition("Accepted", "aaa", "PlatformTeam")).toBe("False/NamespaceTaken");

    await world.declare(team("team-b", []));
    await until("the condition", () => world.condition("Ready", "aaa", "PlatformTeam") === "True/Ready");
    await world.rest();
    expect((await world.status("agent", "other")).team).toBe("aaa");
    expect(world.decide(first)).toBe("unauthorized");
    expect(world.decide(await world.plaintextOf("agent", "other"))).toBe("allowed");
  });

  it("that two new teams claim at once goes to one of them, and stays with it", async (context) => {
    const world = await startWorld(context, setup(), team("zebra", ["other"]), team("aardvark", ["other"]));
    const holders = () =>
      ["zebra", "aardvark"].filter((name) => world.condition("Ready", name, "PlatformTeam") === "True/Ready");
    const [holder, ...others] = holders();
    expect(others).toEqual([]);
    await world.restart();
    expect(holders()).toEqual([holder]);
  });
});

describeWorlds("a gateway", (setup) => {
  it("follows its provider's credential", async (context) => {
    const publicID = uniqueId();
    const world = await startWorld(context, setup(), gateway("main", publicID));
    expect(world.condition("ResolvedRefs", "main", "ModelGateway")).toBe("False/CredentialNotFound");
    const served = () =>
      setup()
        .view.findGateway(publicID)
        ?.upstreams.map(({ credential }) => credential);
    expect(served()).toEqual([null]);
    await world.write(provider("sk-one"));
    await until("the credential", () => served()?.[0] === "sk-one");
    await world.rest();
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("True/Ready");
    await world.write(provider("sk-two"));
    await until("the next credential", () => served()?.[0] === "sk-two");
    await world.undeclare(provider(""));
    await until("no credential", () => served()?.[0] === null);
    await world.rest();
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("False/CredentialNotFound");
  });

  it("b393: without a credentialRef waits for no Secret, and with a missing one goes on to have none", async (context) => {
    const publicID = uniqueId();
    const upstream = { name: "openai", dialect: "openai", baseURL: "http://127.0.0.1:8000/v1" };
    const declared = (fields: object): Manifest => ({
      ...{ kind: "ModelGateway", name: "main", spec: { publicID, upstreams: [{ ...upstream, ...fields }] } },
    });
    const world = await startWorld(context, setup(), declared({}));
    const served = () => setup().view.findGateway(publicID)?.upstreams[0]?.credential;
    const resolved = () =>
      world.get("ModelGateway", "main")?.status?.conditions?.find(({ type }) => type === "ResolvedRefs");
    expect(served()).toBe(false);
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("True/Ready");
    expect(resolved()?.message).toBe(
      "Every upstream that names a credential has it. Without credentialRef, and so called without a credential: openai.",
    );
    await world.declare(declared({ credentialRef: { name: "provider" } }));
    await until("it forwards nothing", () => served() === null);
    await world.rest();
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("False/CredentialNotFound");
    await world.write(provider("sk-one"));
    await until("the credential", () => served() === "sk-one");
    await world.undeclare(provider(""));
    await until("it forwards nothing", () => served() === null);
    await world.write(provider("sk-two"));
    await until("the credential", () => served() === "sk-two");
    await world.declare(declared({}));
    await until("it is declared without", () => served() === false);
    await world.undeclare(provider(""));
    await world.rest();
    expect([served(), world.condition("Ready", "main", "ModelGateway")]).toEqual([false, "True/Ready"]);
  });

  it("b249: has no credential that is longer than any, which each server would keep in memory, and says so", async (context) => {
    const publicID = uniqueId();
    const world = await startWorld(context, setup(), provider("x".repeat(4_097)), gateway("main", publicID));
    expect(world.condition("ResolvedRefs", "main", "ModelGateway")).toBe("False/CredentialNotFound");
    const credential = () => setup().view.findGateway(publicID)?.upstreams[0]?.credential;
    expect(credential()).toBeNull();
    await world.write(provider("x".repeat(4_096)));
    await until("one that may be as long", () => String(credential()).length === 4_096);
  });

  it("b73: that claims another's public id does not get it, nor takes it along when it goes", async (context) => {
    const publicID = uniqueId();
    const world = await startWorld(context, setup(), provider("sk-one"), gateway("main", publicID));
    const held = setup().view.findGateway(publicID)?.gatewayId;
    await world.declare(gateway("rival", publicID));
    expect(world.condition("Accepted", "rival", "ModelGateway")).toBe("False/PublicIDTaken");
    expect(setup().view.findGateway(publicID)?.gatewayId).toBe(held);
    await world.remove({ kind: "ModelGateway", name: "rival" });
    expect(setup().view.findGateway(publicID)?.gatewayId).toBe(held);
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("True/Ready");
  });

  it("b73: gets a public id of its own team once the one that had it is deleted, and never another team's", async (context) => {
    const publicID = uniqueId();
    const world = await startWorld(
      context,
      setup(),
      team("team-b", ["theirs"]),
      provider("sk-one"),
      gateway("main", publicID),
    );
    await world.declare(gateway("next", publicID));
    await world.declare(gateway("rival", publicID, {}, "theirs"));
    const taken = (name: string, namespace = "dev") => world.condition("Accepted", name, "ModelGateway", namespace);
    expect([taken("next"), taken("rival", "theirs")]).toEqual(["False/PublicIDTaken", "False/PublicIDTaken"]);
    await world.remove({ kind: "ModelGateway", name: "main" });
    await until("it serves", () => taken("next") === "True/Serving");
    await world.rest();
    expect(taken("rival", "theirs")).toBe("False/PublicIDTaken");
    await world.remove({ kind: "ModelGateway", name: "next" });
    await world.rest();
    expect(taken("rival", "theirs")).toBe("False/PublicIDTaken");
    expect(setup().view.findGateway(publicID)).toBeUndefined();
  });
});

describeWorlds("a team that gives a member libraries", (setup) => {
  it("says which of them are not there, and is Ready once they are", async (context) => {
    const libraryRefs = ["late", "later"].map((name) => ({ namespace: "other", name }));
    const members = [{ role: "viewer", subject: "ann", libraryRefs }];
    const world = await startWorld(
      context,
      setup(),
      team("team-b", ["other"], { members }),
      library("late", {}, "other"),
    );
    await until("one of them is missing", () => {
      const { conditions = [] } = world.get("PlatformTeam", "team-b")?.status ?? {};
      const { reason, message = "" } = conditions.find(({ type }) => type === "ResolvedRefs") ?? {};
      return reason === "LibraryNotFound" && message.includes("do not exist: other/later.");
    });
    await world.declare(library("later", {}, "other"));
    await until("the team is Ready", () => world.condition("Ready", "team-b", "PlatformTeam") === "True/Ready");
  });

  it("names some of very many that are not there", async (context) => {
    const name = (i: number) => `${"long-".repeat(10)}${i}`;
    const members = Array.from({ length: 4 }, (_, member) => {
      const libraryRefs = Array.from({ length: 64 }, (_, i) => ({ namespace: "other", name: name(64 * member + i) }));
      return { role: "viewer", subject: `user-${member}`, libraryRefs };
    });
    const world = await startWorld(context, setup(), team("team-b", ["other"], { members }));
    const { conditions = [] } = world.get("PlatformTeam", "team-b")?.status ?? {};
    const message = conditions.find(({ type }) => type === "ResolvedRefs")?.message;
    expect(message).toMatch(/-4 and 251 more\. /);
  });

  it("takes for none of them what the API made, which no member reaches by it", async (context) => {
    const libraryRefs = [{ namespace: "other", name: "made" }];
    const members = [{ role: "viewer", subject: "ann", libraryRefs }];
    const world = await startWorld(context, setup(), team("team-b", ["other"]));
    const place = { cluster: API_CLUSTER, namespace: `other${world.tag}`, name: "made", ownerUid: "made-here" };
    const teamId = String(world.get("PlatformTeam", "team-b")?.status?.teamID);
    const words = { displayName: "Made", description: "", deletionPolicy: "Retain" } as const;
    await run(world.store, (tx) => saveLibrary(tx, { ...place, teamId, ...words }));
    await world.declare(team("team-b", ["other"], { members }));
    expect(world.condition("ResolvedRefs", "team-b", "PlatformTeam")).toBe("False/LibraryNotFound");
  });
});
