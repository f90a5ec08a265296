import { describe, expect, it } from "vitest";
import { checkSpec } from "../../../../domain/manifest/validation/check-spec.ts";
import { fillInNamespaces, freeLibraries } from "../../../../domain/manifest/validation/team-libraries.ts";
import { isSameSpec } from "../../../../infra/pulumi/provider/spec.ts";

/** As the management API reads a team's spec. */
function readTeamSpec(given: Readonly<Record<string, unknown>>) {
  const checked = checkSpec("PlatformTeam", "docs", fillInNamespaces(given));
  return "diagnostics" in checked ? checked.diagnostics : freeLibraries(checked.spec, given);
}

const free = { name: "handbook" };
const placed = { namespace: "docs", name: "handbook" };
const reader = (...libraryRefs: object[]) => ({ role: "viewer", group: "readers", libraryRefs });

describe("the libraries that a team names", () => {
  it("are in no namespace where none is said, and in the one that is", () => {
    const members = [{ role: "admin", subject: "ann" }, reader(placed, free, { namespace: "", name: "diary" })];
    expect(readTeamSpec({ members, mcpAgentPolicy: { defaultLibraryRef: free } })).toMatchObject({
      namespaces: [],
      members: [members[0], reader(placed, { namespace: "", name: "handbook" }, { namespace: "", name: "diary" })],
      mcpAgentPolicy: { defaultLibraryRef: { namespace: "", name: "handbook" } },
    });
  });

  it.each([[["docs"]], [["in-no-namespace", "docs"]], [[]]])(
    "leave the team's namespaces as they are: %j",
    (namespaces) => {
      const read = readTeamSpec({ namespaces, mcpAgentPolicy: { defaultLibraryRef: free } });
      expect(read).toMatchObject({ namespaces, mcpAgentPolicy: { defaultLibraryRef: { ...free, namespace: "" } } });
    },
  );

  it("must be in a namespace of the team where they are in one, and have a name", () => {
    expect(readTeamSpec({ mcpAgentPolicy: { defaultLibraryRef: placed } })).toMatchObject([
      { path: "spec.mcpAgentPolicy.defaultLibraryRef" },
    ]);
    expect(readTeamSpec({ members: [reader({})] })).toMatchObject([{ path: "spec.members[0].libraryRefs[0].name" }]);
  });

  it("are others in a namespace than in none, to a Pulumi program", () => {
    const team = (ref: object) => ({
      namespaces: ["docs"],
      members: [reader(ref)],
      mcpAgentPolicy: { defaultLibraryRef: ref },
    });
    expect(isSameSpec("PlatformTeam", "docs", team(free), team({ ...free, namespace: "" }))).toBe(true);
    expect(isSameSpec("PlatformTeam", "docs", team(free), team(placed))).toBe(false);
  });
});
