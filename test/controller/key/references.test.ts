import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
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

  it("has less, and nothing in its place, while a library of its list, its default library or its gateway is gone", async (context) => {
    const policy = { mcpAgentPolicy: { defaultLibraryRef: { namespace: "dev", name: "handbook" } } };
    const [main, other] = [uniqueId(), uniqueId()];
    const world = await startWorld(
      context,
      setup(),
      team("team-a", ["dev"], policy),
      ...["one", "two", "three", "handbook", "diary"].map((name) => library(name)),
      provider("sk-one"),
      gateway("main", main),
      gateway("other", other),
      key("reader", restricted("one", "two")),
      key("writer", { preset: "MCPReadWrite", mcpDefaultLibraryRef: { name: "diary" } }),
      key("caller", refersTo("main")),
    );
    const names = ["reader", "writer", "caller"] as const;
    const plaintexts = () => Promise.all(names.map((name) => world.plaintextOf(name)));
    const before = await plaintexts();
    const [reader = "", writer = "", caller = ""] = before;
    const call = (publicId: string) => world.decide(caller, "gateway.chat_completions", publicId);
    expect(defaultOf(world, writer)).toBe(libraryId(world, "diary"));
    expect([call(main), call(other)]).toEqual(["allowed", "forbidden"]);

    const one = libraryId(world, "one");
    const known = ["handbook", "diary"].map((name) => libraryId(world, name));
    await world.remove(library("two"), library("diary"), { kind: "ModelGateway", name: "main" });
    await world.rest();
    expect(world.record(reader)?.libraryIds).toEqual([one]);
    expect(world.record(writer)?.mcpDefaultLibraryId).not.toBeNull();
    expect(known).not.toContain(defaultOf(world, writer));
    expect([call(main), call(other)]).toEqual(["forbidden", "forbidden"]);
    expect(world.record(caller)?.boundGatewayId).toBe("");
    for (const name of names) expect(world.condition("Ready", name), name).toBe("False/ReferenceNotFound");
    expect(world.condition("ResolvedRefs", "caller")).toBe("False/ReferenceNotFound");

    await world.remove(library("one"));
    await world.rest();
    expect(world.record(reader)?.libraryIds, "an empty list, not all").toEqual([]);

    await world.declare(library("one"), library("two"), gateway("main", main));
    expect(world.record(reader)?.libraryIds).toHaveLength(2);
    expect(world.condition("Ready", "reader")).toBe("True/Ready");
    expect([call(main), call(other)]).toEqual(["allowed", "forbidden"]);
    expect(await plaintexts()).toEqual(before);
  });

  it("b456: keeps in its Secret what leads to its gateway while that is missing, also where the Secret comes to outlive the key", async (context) => {
    const world = await startWorld(context, setup(), provider("sk-one"), gateway("main", uniqueId()));
    const caller = (fields: object = {}) =>
      key("caller", { ...refersTo("main"), secret: { template: "Env" }, ...fields });
    await world.declare(caller());
    const baseUrl = () => world.keyIn("caller", "OPENAI_BASE_URL");
    const before = await baseUrl();
    expect(before).toContain("/g/gateway-");
    await world.remove({ kind: "ModelGateway", name: "main" });
    await world.declare(caller({ displayName: "Another name" }));
    expect(world.condition("Ready", "caller")).toBe("False/ReferenceNotFound");
    expect(await baseUrl()).toBe(before);
    await world.declare(caller({ deletionPolicy: "Retain" }));
    expect(await baseUrl()).toBe(before);

    const next = uniqueId();
    await world.declare(gateway("main", next));
    expect(await baseUrl()).toContain(`/g/${next}`);
  });

  it("b67: of another team does not get it, and in another namespace of its own team gets it", async (context) => {
    const other = uniqueId();
    const reader = (name: string, namespace: string) => ({
      libraryAccess: { mode: "Restricted", libraryRefs: [{ name, namespace }] },
    });
    const world = await startWorld(
      context,
      setup(),
      team("team-a", ["dev", "shared"]),
      team("team-b", ["theirs"]),
      library("handbook", {}, "shared"),
      library("secret", {}, "theirs"),
      gateway("main", other, {}, "theirs"),
      key("own", reader("handbook", "shared")),
      key("reader", reader("secret", "theirs")),
      key("caller", { preset: "GatewayDefault", gatewayRef: { name: "main", namespace: "theirs" } }),
    );
    for (const name of ["reader", "caller"]) {
      expect(await world.keyIn(name)).toBeUndefined();
      expect(world.condition("Ready", name)).toBe("False/ReferenceNotFound");
    }
    const id = world.get("MemoryLibrary", "handbook", "shared")?.status?.libraryID;
    expect(world.record(await world.plaintextOf("own"))?.libraryIds).toEqual([id]);
  });
});

const defaultOf = (world: World, plaintext: string) => {
  const record = world.record(plaintext);
  return record?.mcpDefaultLibraryId ?? record?.teamDefaultLibraryId;
};

describeWorlds("a namespace", (setup) => {
  it("b96: that no team claims has no keys, and says so; Keyplane's own is no team's, which holds its others", async (context) => {
    const world = await startWorld(
      context,
      { ...setup(), ownNamespace: "keyplane" },
      team("team-b", ["keyplane", "other"]),
      key("k", {}, "keyplane"),
      key("agent", {}, "teamless"),
      library("notes", {}, "teamless"),
    );
    expect(world.condition("Accepted", "team-b", "PlatformTeam")).toBe("False/NamespaceTaken");
    const { conditions = [], namespaces } = world.get("PlatformTeam", "team-b")?.status ?? {};
    expect(conditions.find(({ type }) => type === "Accepted")?.message).toContain(
      "keyplane is reserved for the cluster or",
    );
    expect(namespaces).toEqual(["other"]);
    expect(world.condition("Ready", "k", "PlatformKey", "keyplane")).toBe("False/NamespaceUnclaimed");

    expect(await world.keyIn("agent", "api-key", "teamless")).toBeUndefined();
    expect(world.condition("Ready", "agent", "PlatformKey", "teamless")).toBe("False/NamespaceUnclaimed");
    expect(world.condition("Accepted", "notes", "MemoryLibrary", "teamless")).toBe("False/NamespaceUnclaimed");
    await world.declare(team("team-c", ["teamless"]));
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

  it("that its team gives up, or whose team is deleted, has its keys suspended, and the same working again with it", async (context) => {
    const [giving, deleted] = [team("team-b", ["given"]), team("team-c", ["deleted"])];
    const namespaces = ["given", "deleted"];
    const keys = namespaces.map((namespace) => key("agent", {}, namespace));
    const world = await startWorld(context, setup(), giving, deleted, ...keys);
    const plaintexts = () => Promise.all(namespaces.map((namespace) => world.plaintextOf("agent", namespace)));
    const before = await plaintexts();
    await world.declare(team("team-b", []));
    await world.remove(deleted);
    await world.rest();
    for (const [i, namespace] of namespaces.entries()) {
      expect(world.decide(before[i] ?? ""), namespace).toBe("unauthorized");
      expect(world.condition("Ready", "agent", "PlatformKey", namespace)).toBe("False/NamespaceUnclaimed");
    }
    await world.declare(giving, deleted);
    expect(before.map((each) => world.decide(each))).toEqual(["allowed", "allowed"]);
    expect(await plaintexts()).toEqual(before);
    expect(world.condition("Ready", "agent", "PlatformKey", "given")).toBe("True/Ready");
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

  it("b448: that its team gives up keeps no key with Retain that an editor deletes before the next team is stored", async (context) => {
    const retained = key("agent", { deletionPolicy: "Retain" }, "other");
    const world = await startWorld(context, setup(), team("team-b", ["other"]), retained);
    const plaintext = await world.plaintextOf("agent", "other");
    await world.declare(team("team-b", []));
    await world.remove(retained);
    expect((await world.storedKeys()).map(({ state }) => state)).toEqual(["revoked"]);
    await world.declare(team("team-b", ["other"]));
    expect(world.decide(plaintext)).toBe("unauthorized");
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
});

describeWorlds("a gateway", (setup) => {
  it("b249: follows its provider's credential, and has none that is longer than any, which each server would keep in memory", async (context) => {
    const publicID = uniqueId();
    const world = await startWorld(context, setup(), provider("x".repeat(4_097)), gateway("main", publicID));
    expect(world.condition("ResolvedRefs", "main", "ModelGateway")).toBe("False/CredentialNotFound");
    const served = () =>
      setup()
        .view.findGateway(publicID)
        ?.upstreams.map(({ credential }) => credential);
    expect(served()).toEqual([null]);
    await world.write(provider("x".repeat(4_096)));
    await until("one that may be as long", () => served()?.[0] === "x".repeat(4_096));
    await world.rest();
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("True/Ready");
    await world.write(provider("sk-two"));
    await until("the next credential", () => served()?.[0] === "sk-two");
    await world.undeclare(provider(""));
    await until("no credential", () => served()?.[0] === null);
    await world.rest();
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("False/CredentialNotFound");
    await world.write(provider("sk-three"));
    await until("the credential of a new Secret", () => served()?.[0] === "sk-three");
  });

  it("b469: has none that no header carries, and says so", async (context) => {
    const publicID = uniqueId();
    const world = await startWorld(context, setup(), gateway("main", publicID));
    const served = () => setup().view.findGateway(publicID)?.upstreams[0]?.credential;
    const resolved = () =>
      world.get("ModelGateway", "main")?.status?.conditions?.find(({ type }) => type === "ResolvedRefs");
    const folder = join(world.data, "secrets/dev/provider");
    await mkdir(folder, { recursive: true });
    const write = (bytes: string | Buffer) => writeFile(join(folder, "api-key"), bytes);
    // Headers carry these, and self-hosted model servers may have such.
    for (const passphrase of ["sk-\u00e9", "pass phrase"]) {
      await write(passphrase);
      await until("the passphrase", () => served() === passphrase);
    }
    const unusable = ["sk-one\nsk-two", Buffer.from([0xff, 0xfe, 0x73, 0]), "\u2018sk-one\u2019"];
    for (const [i, bytes] of unusable.entries()) {
      await write(`\ufeff sk-${i}\r\n`);
      await until("the credential, without the white space around it", () => served() === `sk-${i}`);
      await world.rest();
      expect(world.condition("Ready", "main", "ModelGateway")).toBe("True/Ready");
      await write(bytes);
      await until("no credential", () => served() === null);
      await world.rest();
      expect(world.condition("Ready", "main", "ModelGateway")).toBe("False/CredentialNotFound");
      expect(resolved()?.message).toBe(
        "credentialRef of upstream openai names data key api-key of Secret provider, which no header carries: write it there in one line, without typographic quotes and the like, of at most 4,096 characters. Create the Secret that spec.upstreams[].credentialRef names, with that key.",
      );
    }
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

  it.for<[secret: string, fields: Record<string, unknown>]>([
    ["a Secret that goes with its key", {}],
    ["a Secret that outlives its key", { secret: { creationPolicy: "Orphan" } }],
    ["a Secret of a key that is retained", { deletionPolicy: "Retain" }],
  ])("b422: sends no provider the key of a PlatformKey, and says so: %s", async ([, fields], context) => {
    const publicID = uniqueId();
    const world = await startWorld(context, setup(), gateway("main", publicID), key("provider", fields));
    const served = () => setup().view.findGateway(publicID)?.upstreams[0]?.credential;
    const resolved = () =>
      world.get("ModelGateway", "main")?.status?.conditions?.find(({ type }) => type === "ResolvedRefs");
    await until("the key's Secret is seen", () => resolved()?.message.includes("PlatformKey"));
    await world.rest();
    expect(served()).toBeNull();
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("False/CredentialNotFound");
    expect(resolved()?.message).toBe(
      "credentialRef of upstream openai names Secret provider, which PlatformKey provider writes: its key would go to the provider. Name another Secret. Create the Secret that spec.upstreams[].credentialRef names, with that key.",
    );
    await world.write(provider("sk-one"));
    await world.restart();
    expect(served()).toBeNull();
    await world.declare(gateway("late", uniqueId()));
    expect(world.condition("Ready", "late", "ModelGateway")).toBe("False/CredentialNotFound");
  });

  it("b422: may have the key of another Keyplane from a Secret that no PlatformKey writes", async (context) => {
    const publicID = uniqueId();
    const chained = `inf_${"x".repeat(57)}`;
    const world = await startWorld(context, setup(), provider(chained), gateway("main", publicID), key("provider"));
    expect(setup().view.findGateway(publicID)?.upstreams[0]?.credential).toBe(chained);
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("True/Ready");
    expect(world.condition("Ready", "provider")).toBe("False/SecretConflict");
  });

  it("b73: that claims another's public id gets it of its own team once that is deleted, and never another team's", async (context) => {
    const publicID = uniqueId();
    const world = await startWorld(
      context,
      setup(),
      team("team-b", ["theirs"]),
      provider("sk-one"),
      gateway("main", publicID),
    );
    const held = setup().view.findGateway(publicID)?.gatewayId;
    const taken = (name: string, namespace = "dev") => world.condition("Accepted", name, "ModelGateway", namespace);
    await world.declare(gateway("next", publicID), gateway("rival", publicID, {}, "theirs"));
    expect([taken("next"), taken("rival", "theirs")]).toEqual(["False/PublicIDTaken", "False/PublicIDTaken"]);
    expect(setup().view.findGateway(publicID)?.gatewayId).toBe(held);
    await world.remove({ kind: "ModelGateway", name: "next" });
    expect(setup().view.findGateway(publicID)?.gatewayId, "it is not taken along").toBe(held);
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("True/Ready");

    await world.declare(gateway("next", publicID));
    await world.remove({ kind: "ModelGateway", name: "main" });
    await until("it serves", () => taken("next") === "True/Serving");
    await world.rest();
    expect(taken("rival", "theirs")).toBe("False/PublicIDTaken");
    await world.remove({ kind: "ModelGateway", name: "next" });
    await world.rest();
    expect(taken("rival", "theirs")).toBe("False/PublicIDTaken");
    expect(setup().view.findGateway(publicID)).toBeUndefined();
  });

  it.for(["before the move", "after it"])(
    "b447: whose namespace moves to another team lets go of its public id, which its first team declares elsewhere %s",
    async (when, context) => {
      const publicID = uniqueId();
      const moving = gateway("main", publicID, {}, "moving");
      const unrepaired = { ...setup(), intervalsMs: { database: 3_600_000, resync: 3_600_000 } };
      const world = await startWorld(context, unrepaired, team("team-b", ["moving", "staying"]), moving);
      const held = setup().view.findGateway(publicID);
      const staying = gateway("main", publicID, {}, "staying");
      if (when === "before the move") await world.declare(staying);
      await world.declare(team("team-b", ["staying"]));
      await world.declare(team("team-c", ["moving"]));
      if (when === "after it") await world.declare(staying);
      const accepted = (namespace: string) => world.condition("Accepted", "main", "ModelGateway", namespace);
      await until("it serves", () => accepted("staying") === "True/Serving");
      expect(accepted("moving")).toBe("False/PublicIDTaken");
      expect(setup().view.findGateway(publicID)).toMatchObject({ gatewayId: held?.gatewayId, teamId: held?.teamId });
      await world.remove(moving);
      expect(accepted("staying")).toBe("True/Serving");
      expect(setup().view.findGateway(publicID)?.gatewayId).toBe(held?.gatewayId);
    },
  );

  it("whose generated public id another declares serves by it as soon as the first is gone", async (context) => {
    const unrepaired = { ...setup(), intervalsMs: { database: 3_600_000, resync: 3_600_000 } };
    const { spec, ...main } = gateway("main", "");
    const world = await startWorld(context, unrepaired, { ...main, spec: { ...spec, publicID: undefined } });
    const publicID = String(world.get("ModelGateway", "main")?.status?.publicID);
    await world.declare(gateway("primary", publicID));
    expect(world.condition("Accepted", "primary", "ModelGateway")).toBe("False/PublicIDTaken");
    await world.remove(gateway("main", ""));
    await until("it serves", () => world.condition("Accepted", "primary", "ModelGateway") === "True/Serving");
  });
});

describeWorlds("a team that gives a member libraries", (setup) => {
  it("says which of them are not there, some of very many, is Ready once they are, and takes none that the API made", async (context) => {
    const giving = (...members: string[][]) =>
      team("team-b", ["other"], {
        members: members.map((names, i) => ({
          ...{ role: "viewer", subject: `user-${i}` },
          libraryRefs: names.map((name) => ({ namespace: "other", name })),
        })),
      });
    const world = await startWorld(context, setup(), giving(["late", "later"]), library("late", {}, "other"));
    const missing = () => {
      const { conditions = [] } = world.get("PlatformTeam", "team-b")?.status ?? {};
      const { reason, message = "" } = conditions.find(({ type }) => type === "ResolvedRefs") ?? {};
      return reason === "LibraryNotFound" ? message : "";
    };
    await until("one of them is missing", () => missing().includes("do not exist: other/later."));
    await world.declare(library("later", {}, "other"));
    await until("the team is Ready", () => world.condition("Ready", "team-b", "PlatformTeam") === "True/Ready");

    const place = { cluster: API_CLUSTER, namespace: `other${world.tag}`, name: "made", ownerUid: "made-here" };
    const teamId = String(world.get("PlatformTeam", "team-b")?.status?.teamID);
    const words = { displayName: "Made", description: "", deletionPolicy: "Retain" } as const;
    await run(world.store, (tx) => saveLibrary(tx, { ...place, teamId, ...words }));
    await world.declare(giving(["made"]));
    expect(missing()).toContain("do not exist: other/made.");

    const names = Array.from({ length: 4 * 64 }, (_, i) => `${"long-".repeat(10)}${i}`);
    await world.declare(giving(...[0, 1, 2, 3].map((member) => names.slice(64 * member, 64 * (member + 1)))));
    expect(missing()).toMatch(/-4 and 251 more\. /);
  });
});
