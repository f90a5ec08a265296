import { expect, test } from "vitest";
import { declareKey } from "../../../../domain/key/fields/declare-key.ts";
import {
  type ReferenceScope,
  type ResolvedReference,
  resolveReferences,
} from "../../../../domain/key/observed/resolve-references.ts";
import { key, storedSpec } from "../../manifest/read.ts";

const spec = storedSpec(
  key(`{ scopes: [memory:read, gateway:embed], gatewayRef: { name: main }, mcpDefaultLibraryRef: { name: notes },
    libraryAccess: { mode: Restricted, libraryRefs: [{ name: notes }, { name: diary }, { name: notes, namespace: shared }] } }`),
);
const declared = declareKey("dev", "agent", spec as Parameters<typeof declareKey>[2]);

/** What one team has, by its names; what it is asked for as another team is absent. */
function scope(
  teams: { teamId: string | null; ownTeamId: string | null },
  found: Readonly<Record<string, ResolvedReference>>,
): ReferenceScope {
  return {
    ...teams,
    find: (_kind, { namespace, name }, teamId) =>
      teamId === "team" ? (found[`${namespace}/${name}`] ?? "absent") : "absent",
  };
}

const ALL = {
  "dev/main": { id: "gw", publicId: "main-public" },
  "dev/notes": { id: "lib-1" },
  "dev/diary": { id: "lib-2" },
  "shared/notes": { id: "lib-1" },
};

test("references lead to what the team has by their names, each once", () => {
  expect(resolveReferences(declared, scope({ teamId: "team", ownTeamId: null }, ALL))).toEqual({
    references: {
      teamId: "team",
      gatewayId: "gw",
      gatewayPublicId: "main-public",
      libraryIds: ["lib-1", "lib-2"],
      mcpDefaultLibraryId: "lib-1",
      missing: [],
    },
    unresolved: [],
  });
});

test("references that lead nowhere, or to several, grant nothing and are reported by their fields", () => {
  const found = { "dev/notes": "ambiguous", "dev/diary": { id: "lib-2" } } as const;
  const { references, unresolved } = resolveReferences(declared, scope({ teamId: "team", ownTeamId: "team" }, found));
  expect(references).toMatchObject({ gatewayId: "", libraryIds: ["lib-2"], mcpDefaultLibraryId: "" });
  expect(references.missing).toEqual([
    "ModelGateway dev/main is not in this team.",
    "MemoryLibrary dev/notes is not in this team.",
    "MemoryLibrary shared/notes is not in this team.",
  ]);
  expect(unresolved.map(({ path, why }) => `${path}: ${why}`)).toEqual([
    "spec.gatewayRef: absent",
    "spec.libraryAccess.libraryRefs[0]: ambiguous",
    "spec.libraryAccess.libraryRefs[2]: absent",
    "spec.mcpDefaultLibraryRef: ambiguous",
  ]);
});

test("references of a key whose namespace no team holds lead to what its own team has, and nowhere without one", () => {
  const own = resolveReferences(declared, scope({ teamId: null, ownTeamId: "team" }, ALL)).references;
  expect(own).toMatchObject({ teamId: null, gatewayId: "gw", libraryIds: ["lib-1", "lib-2"], missing: [] });
  const none = resolveReferences(declared, scope({ teamId: null, ownTeamId: null }, ALL));
  expect(none.references).toMatchObject({ gatewayId: "", libraryIds: [], mcpDefaultLibraryId: "", missing: [] });
  expect(none.unresolved).toEqual([]);
});
