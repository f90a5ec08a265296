import { expect, it } from "vitest";
import { embeddedCondition, nextLookMs } from "../../../controller/library/library-embedding.ts";
import { findCondition } from "../../../domain/conditions.ts";
import { hasVectorTable } from "../../../store/database/migrate/vector-table.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { findKey } from "../../../store/keys/rows/find-key.ts";
import { type EmbeddingProgress, embeddingProgress } from "../../../store/libraries/embedding-progress.ts";
import { until } from "../../env/until.ts";
import { run } from "../../store/fixtures.ts";
import { describeWorldsNightlyOnEachEngine } from "../fixtures/setup.ts";
import type { Manifest } from "../fixtures/side.ts";
import { library, NAMESPACE, startWorld, team, type World } from "../fixtures/world.ts";

const CREDENTIAL: Manifest = { kind: "Secret", name: "provider", stringData: { "api-key": "sk-test-embeddings" } };
const UPSTREAM = {
  name: "openai",
  dialect: "openai",
  baseURL: "https://api.openai.com",
  credentialRef: { name: "provider", key: "api-key" },
};
const gateway = (name: string, namespace = NAMESPACE): Manifest => ({
  ...{ kind: "ModelGateway", name, namespace },
  spec: { upstreams: [UPSTREAM] },
});
const embedded = (name: string, embedding: object = {}) =>
  library(name, { embedding: { gatewayRef: { name: "main" }, model: "small", ...embedding } });

function progressOf(world: World, name: string) {
  const id = String(world.get("MemoryLibrary", name)?.status?.libraryID);
  return embeddingProgress(world.store.db, id);
}

async function keyOf(world: World, name: string) {
  const { keyId = "" } = (await progressOf(world, name)) ?? {};
  return findKey(world.store.db, keyId);
}

describeWorldsNightlyOnEachEngine("A library that declares its embedding", (setup) => {
  it("has a key of its own, for that model of that gateway alone, which follows the declaration and ends with it", async (context) => {
    const world = await startWorld(context, setup(), CREDENTIAL, gateway("main"), embedded("notes"));
    const ready = () => world.condition("Ready", "notes", "MemoryLibrary");
    await until("the library is ready", () => ready() === "True/Ready");
    const waits = (await hasVectorTable(world.store.db)) ? "False/Embedding" : "False/VectorsUnavailable";
    expect(world.condition("Embedded", "notes", "MemoryLibrary")).toBe(waits);
    const key = await keyOf(world, "notes");
    const gatewayID = world.get("ModelGateway", "main")?.status?.gatewayID;
    expect(key).toMatchObject({ state: "active", ownerUid: null, versions: [{ state: "active", imported: false }] });
    expect(key?.policy).toMatchObject({
      ...{ scopes: ["gateway:embed"], boundGatewayId: gatewayID, allowedModels: ["small"] },
    });
    await world.declare(embedded("notes", { model: "large" }));
    expect(await keyOf(world, "notes")).toMatchObject({ id: key?.id, policy: { allowedModels: ["large"] } });
    await world.declare(library("notes"));
    expect(await progressOf(world, "notes")).toBeUndefined();
    expect(await findKey(world.store.db, key?.id ?? "")).toMatchObject({ revocation: { reason: "Deleted" } });
    await world.declare(embedded("notes"));
    const second = await keyOf(world, "notes");
    expect(second?.id).not.toBe(key?.id);
    await world.remove(embedded("notes"));
    expect(await findKey(world.store.db, second?.id ?? "")).toMatchObject({ revocation: { reason: "Deleted" } });
  });

  it("says that its key was revoked by hand, and has no other until the field is taken away and put back", async (context) => {
    const world = await startWorld(context, setup(), CREDENTIAL, gateway("main"), embedded("notes"));
    await until("the library has a key", async () => (await keyOf(world, "notes")) !== undefined);
    const key = await keyOf(world, "notes");
    await run(world.store, (tx) => revokeKey(tx, key?.id ?? "", "ByHand"));
    await until("it says so", () => {
      return world.condition("Embedded", "notes", "MemoryLibrary") === "False/EmbeddingKeyRevoked";
    });
    await world.declare(embedded("notes", { model: "large" }));
    expect(await keyOf(world, "notes")).toMatchObject({ id: key?.id, state: "revoked" });
    await world.declare(library("notes"));
    await world.declare(embedded("notes"));
    expect(await keyOf(world, "notes")).toMatchObject({ state: "active" });
  });

  it("says that its key was revoked when it was reported as leaked", async (context) => {
    const world = await startWorld(context, setup(), CREDENTIAL, gateway("main"), embedded("notes"));
    await until("the library has a key", async () => (await keyOf(world, "notes")) !== undefined);
    const key = await keyOf(world, "notes");
    await run(world.store, (tx) => revokeKey(tx, key?.id ?? "", "Leaked"));
    const conditions = () => world.get("MemoryLibrary", "notes")?.status?.conditions;
    await until("it says so", () => findCondition(conditions(), "Embedded")?.reason === "EmbeddingKeyRevoked");
    expect(findCondition(conditions(), "Embedded")?.message).toContain("reported as leaked");
  });

  it("b67: reaches no gateway of another team, and no key is made for one", async (context) => {
    const world = await startWorld(context, setup(), team("team-b", ["theirs"]), CREDENTIAL);
    await world.declare({ ...CREDENTIAL, namespace: "theirs" }, gateway("main", "theirs"));
    await world.declare(embedded("notes", { gatewayRef: { name: "main", namespace: `theirs${world.tag}` } }));
    expect(world.condition("ResolvedRefs", "notes", "MemoryLibrary")).toBe("False/ReferenceNotFound");
    expect(await progressOf(world, "notes")).toBeUndefined();
    await world.declare(gateway("main"), embedded("notes"));
    await until("it is found once the team has one", async () => (await keyOf(world, "notes")) !== undefined);
  });
});

it("A library whose atoms cannot be embedded at present is looked at as seldom as one whose atoms all are", () => {
  const waits = { keyId: "key_a", revoked: null, hasVectors: true, waiting: 1, isMore: false, setAside: 0 };
  const underWay: EmbeddingProgress = { ...waits, refusal: null, failure: null };
  expect(nextLookMs(underWay)).toBe(5_000);
  expect(nextLookMs({ ...underWay, failure: "the upstream answered 401" })).toBe(20_000);
  const resting: Partial<EmbeddingProgress>[] = [{ waiting: 0 }, { hasVectors: false }, { revoked: "ByHand" }];
  expect(resting.map((one) => nextLookMs({ ...underWay, ...one }))).toEqual([60_000, 60_000, 60_000]);
});

const MODEL = { model: "stub-embedding", gateway: "research/main" };

it.each([
  [0, "the upstream answered 404", /^No atom waits to be embedded\. /],
  [3, "the upstream refuses the gateway's credential", /^3 atoms wait to be embedded\. /],
])("A library whose model is refused names it, its gateway and what to do: %i atoms, %s", (waiting, failure, begin) => {
  const waits = { keyId: "key_a", revoked: null, hasVectors: true, isMore: false, setAside: 0, refusal: null };
  const said = embeddedCondition({ ...waits, waiting, failure }, MODEL);
  expect(said).toMatchObject({ type: "Embedded", status: "False", reason: "EmbeddingFailed" });
  expect(said.message).toMatch(begin);
  expect(said.message).toContain(
    `The last try of model stub-embedding through ModelGateway research/main failed: ${failure}. If the upstream`,
  );
});

it("A library whose atoms are set aside says how many, as far as they are counted", () => {
  const refused: EmbeddingProgress = {
    ...{ keyId: "key_a", revoked: null, hasVectors: true, waiting: 0, isMore: false },
    ...{ setAside: 10_000, refusal: "too long", failure: null },
  };
  const conditionOf = (setAside: number) => embeddedCondition({ ...refused, setAside }, MODEL);
  expect(conditionOf(10_000)).toMatchObject({ status: "False", reason: "EmbeddingRefused" });
  expect(conditionOf(10_001).message).toMatch(/^More than 10,000 atoms are set aside, each tried alone: too long\./);
  expect(conditionOf(10_000).message).toMatch(/^10,000 atoms are set aside/);
  expect(conditionOf(0)).toMatchObject({ status: "True", reason: "Embedded" });
});
