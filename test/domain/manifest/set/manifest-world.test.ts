import { describe, expect, test } from "vitest";
import { declareKey } from "../../../../domain/key/fields/declare-key.ts";
import type { Kind } from "../../../../domain/kinds/kinds.ts";
import { type WorldObject, worldOf } from "../../../../domain/manifest/set/manifest-world.ts";
import { manifest, readText } from "../read.ts";

function declared<K extends Kind>(kind: K, name: string, spec: object, namespace = "dev"): WorldObject<K> {
  const metadata = kind === "PlatformTeam" ? { name } : { name, namespace };
  const { manifests, diagnostics } = readText(manifest(kind, spec, metadata));
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return manifests[0] as unknown as WorldObject<K>;
}

const team = (name: string, ...namespaces: string[]) => declared("PlatformTeam", name, { namespaces });
const library = (name: string, namespace: string) => declared("MemoryLibrary", name, {}, namespace);
const key = (name: string, spec: object = {}) => declared("PlatformKey", name, { preset: "MCPReadOnly", ...spec });
const gateway = (name: string, publicID: string) =>
  declared("ModelGateway", name, {
    publicID,
    upstreams: [
      { name: "main", dialect: "openai", baseURL: "https://models.example.com", credentialRef: { name: "c" } },
    ],
  });

describe("a namespace", () => {
  test("is the team's that claims it, and no team's where none does", () => {
    const world = worldOf([team("research", "dev", "lab")]);
    expect(["dev", "lab", "prod"].map(world.teamOf)).toEqual(["research", "research", null]);
  });

  test("that two teams claim is the first's by name, unless another of them has it already", () => {
    const both = [team("zebra", "dev"), team("ant", "dev")];
    expect(worldOf(both).teamOf("dev")).toBe("ant");
    expect(worldOf(both, worldOf([team("zebra", "dev")])).teamOf("dev")).toBe("zebra");
  });

  test("that no team holds is the older team's, and an existing team's before a new one's", () => {
    const [zebra, ant] = [team("zebra", "dev"), team("ant", "dev")];
    const at = (object: WorldObject<"PlatformTeam">, createdAt: number) => ({ ...object, createdAt });
    expect(worldOf([at(ant, 2), at(zebra, 1)]).teamOf("dev")).toBe("zebra");
    const before = worldOf([at(team("zebra"), 1)]);
    expect(worldOf([ant, zebra], before).teamOf("dev")).toBe("zebra");
    expect(worldOf([ant, zebra], { ...before, teamOf: () => "ant" }).teamOf("dev")).toBe("ant");
  });

  test("that its holder claims no more goes to the team that does", () => {
    expect(worldOf([team("ant", "dev"), team("zebra")], worldOf([team("zebra", "dev")])).teamOf("dev")).toBe("ant");
  });
});

describe("a reference", () => {
  const refs = (name: string, namespace = "dev") => ({
    libraryAccess: { mode: "Restricted", libraryRefs: [{ name, namespace }] },
  });
  const resolve = (objects: readonly WorldObject[], spec: object, own: string | null = null) => {
    const agent = key("agent", spec);
    return worldOf([...objects, agent]).resolve(declareKey("dev", "agent", agent.spec), "dev", own);
  };

  test("finds what is there in a namespace of the key's own team, by its name", () => {
    const objects = [team("research", "dev", "lab"), library("docs", "lab")];
    expect(resolve(objects, refs("docs", "lab")).references.libraryIds).toEqual(["lab/docs"]);
  });

  test("finds nothing of another team, nor what is not declared: it grants nothing", () => {
    const objects = [team("research", "dev"), team("platform", "prod"), library("docs", "prod")];
    for (const spec of [refs("docs", "prod"), refs("none")]) {
      const { references, unresolved } = resolve(objects, spec);
      expect(references.libraryIds).toEqual([]);
      expect(unresolved).toMatchObject([{ path: "spec.libraryAccess.libraryRefs[0]", why: "absent" }]);
    }
  });

  test("of a namespace that no team claims any more finds what the key's own team had there", () => {
    const objects = [team("research"), library("docs", "dev")];
    expect(resolve(objects, refs("docs"), "research").references.libraryIds).toEqual(["dev/docs"]);
    expect(resolve(objects, refs("docs"), null).references.teamId).toBeNull();
  });
});

describe("an object", () => {
  const world = worldOf([team("research", "dev"), library("docs", "dev"), library("old", "lab")]);

  test("is found by its kind, namespace and name", () => {
    expect(world.find("MemoryLibrary", { namespace: "dev", name: "docs" })?.name).toBe("docs");
    expect(world.find("ModelGateway", { namespace: "dev", name: "docs" })).toBeUndefined();
  });

  test("is a team's where the team holds its namespace", () => {
    const isOf = (namespace: string, name: string) => world.isOfTeam("MemoryLibrary", { namespace, name }, "research");
    expect([isOf("dev", "docs"), isOf("lab", "old"), isOf("dev", "none")]).toEqual([true, false, false]);
  });
});

describe("a Secret that several keys name", () => {
  const shared = { secret: { name: "shared" } };
  const taker = (asking: string, ...worlds: Parameters<typeof worldOf>) =>
    worldOf(...worlds).secretTaker({ namespace: "dev", name: asking }, "shared")?.name;

  test("is the first's by name, and the others learn whose it is", () => {
    const keys = [key("b", shared), key("a", shared)];
    expect([taker("a", keys), taker("b", keys)]).toEqual([undefined, "a"]);
  });

  test("stays with the key that was there before", () => {
    const keys = [key("b", shared), key("a", shared)];
    expect(taker("a", keys, worldOf([key("b", shared)]))).toBe("b");
  });

  test("is free where the key that names it is revoked, or none does", () => {
    expect(taker("b", [key("a", { ...shared, state: "Revoked" })])).toBeUndefined();
    expect(taker("b", [key("a")])).toBeUndefined();
  });

  test("is another Secret in another namespace", () => {
    const elsewhere = declared("PlatformKey", "a", { preset: "MCPReadOnly", ...shared }, "lab");
    expect(taker("b", [elsewhere])).toBeUndefined();
  });
});

test("a public id that two gateways declare is the first's by name, or the one's that had it before", () => {
  const both = [gateway("b", "models"), gateway("a", "models")];
  expect(worldOf(both).publicIdHolder("models")?.name).toBe("a");
  expect(worldOf(both, worldOf([gateway("b", "models")])).publicIdHolder("models")?.name).toBe("b");
  expect(worldOf(both).publicIdHolder("other")).toBeUndefined();
});

describe("the keys of a team", () => {
  const placesOf = (objects: readonly WorldObject[], ...names: string[]) => {
    const world = worldOf(objects);
    return names.map((name) => {
      const found = world.find("PlatformKey", { namespace: "dev", name });
      return found && world.keysBefore(found);
    });
  };

  test("have places by age, and then by name; a revoked one takes none", () => {
    const made = (name: string, createdAt: number, spec?: object) => ({ ...key(name, spec), createdAt });
    const others = declared("PlatformKey", "a", { preset: "MCPReadOnly" }, "lab");
    const keys = [key("d"), key("c"), made("b", 2), made("a", 1, { state: "Revoked" }), made("e", 1), others];
    const teams = [team("research", "dev"), team("ops", "lab")];
    expect(placesOf([...teams, ...keys], "a", "e", "b", "c", "d")).toEqual([0, 0, 1, 2, 3]);
  });

  test("are looked at once for the places of all of them", () => {
    let looks = 0;
    const counted = (object: WorldObject<"PlatformKey">) => ({
      ...object,
      get createdAt() {
        looks++;
        return 1;
      },
    });
    const names = Array.from({ length: 500 }, (_, n) => `key-${String(n).padStart(3, "0")}`);
    const keys = names.map((name) => counted(key(name)));
    expect(placesOf([team("research", "dev"), ...keys], ...names)).toEqual(names.map((_, n) => n));
    expect(looks).toBeLessThan(500 * 20);
  });
});
