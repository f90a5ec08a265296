import { sql } from "kysely";
import { expect, it } from "vitest";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { findKey } from "../../../store/keys/rows/find-key.ts";
import { until } from "../../env/until.ts";
import { run } from "../../store/fixtures.ts";
import { describeWorldsNightlyOnEachEngine } from "../fixtures/setup.ts";
import type { Manifest } from "../fixtures/side.ts";
import { library, NAMESPACE, startWorld, team, type World } from "../fixtures/world.ts";

const CREDENTIAL: Manifest = { kind: "Secret", name: "provider", stringData: { "api-key": "sk-test-extraction" } };
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
const extracting = (name: string, extraction: object = {}) =>
  library(name, { extraction: { gatewayRef: { name: "main" }, model: "small", ...extraction } });

async function extractionOf(world: World, name: string) {
  const id = String(world.get("MemoryLibrary", name)?.status?.libraryID);
  const { rows } = await sql<{ key_id: string; tokens: number }>`
    select key_id, tokens_per_day::integer as tokens from library_extractions where library_id = ${id}`.execute(
    world.store.db,
  );
  return rows[0];
}

async function keyOf(world: World, name: string) {
  return findKey(world.store.db, (await extractionOf(world, name))?.key_id ?? "");
}

describeWorldsNightlyOnEachEngine("A library that declares its extraction", (setup) => {
  it("has a key of its own, for that model of that gateway alone, which follows the declaration and ends with it", async (context) => {
    const world = await startWorld(context, setup(), CREDENTIAL, gateway("main"), extracting("notes"));
    await until("the library is ready", () => world.condition("Ready", "notes", "MemoryLibrary") === "True/Ready");
    const key = await keyOf(world, "notes");
    const gatewayID = world.get("ModelGateway", "main")?.status?.gatewayID;
    expect(key).toMatchObject({ state: "active", ownerUid: null, versions: [{ state: "active", imported: false }] });
    expect(key?.policy).toMatchObject({
      ...{ scopes: ["gateway:generate"], boundGatewayId: gatewayID, allowedModels: ["small"] },
    });
    expect((await extractionOf(world, "notes"))?.tokens).toBe(1_000_000);
    await world.declare(extracting("notes", { model: "large", tokensPerDay: 20_000 }));
    expect(await keyOf(world, "notes")).toMatchObject({ id: key?.id, policy: { allowedModels: ["large"] } });
    expect((await extractionOf(world, "notes"))?.tokens).toBe(20_000);
    await world.declare(library("notes"));
    expect(await extractionOf(world, "notes")).toBeUndefined();
    expect(await findKey(world.store.db, key?.id ?? "")).toMatchObject({ revocation: { reason: "Deleted" } });
    await world.declare(extracting("notes"));
    const second = await keyOf(world, "notes");
    expect(second?.id).not.toBe(key?.id);
    await world.remove(extracting("notes"));
    expect(await findKey(world.store.db, second?.id ?? "")).toMatchObject({ revocation: { reason: "Deleted" } });
  });

  it("has no other key for one that was revoked by hand, until the field is taken away and put back", async (context) => {
    const world = await startWorld(context, setup(), CREDENTIAL, gateway("main"), extracting("notes"));
    await until("the library has a key", async () => (await keyOf(world, "notes")) !== undefined);
    const key = await keyOf(world, "notes");
    await run(world.store, (tx) => revokeKey(tx, key?.id ?? "", "ByHand"));
    await world.declare(extracting("notes", { model: "large" }));
    expect(await keyOf(world, "notes")).toMatchObject({ id: key?.id, state: "revoked" });
    await world.declare(library("notes"));
    await world.declare(extracting("notes"));
    expect(await keyOf(world, "notes")).toMatchObject({ state: "active" });
  });

  it("b67: reaches no gateway of another team, and no key is made for one", async (context) => {
    const world = await startWorld(context, setup(), team("team-b", ["theirs"]), CREDENTIAL);
    await world.declare({ ...CREDENTIAL, namespace: "theirs" }, gateway("main", "theirs"));
    await world.declare(extracting("notes", { gatewayRef: { name: "main", namespace: `theirs${world.tag}` } }));
    expect(world.condition("ResolvedRefs", "notes", "MemoryLibrary")).toBe("False/ReferenceNotFound");
    expect(await extractionOf(world, "notes")).toBeUndefined();
    await world.declare(gateway("main"), extracting("notes"));
    await until("it is found once the team has one", async () => (await keyOf(world, "notes")) !== undefined);
  });
});
