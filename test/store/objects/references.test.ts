import { beforeAll, expect, test } from "vitest";
import { findInTeam } from "../../../store/objects/references.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { addLibrary, addTeamsWithLibraries } from "../../memory/libraries.ts";

describeOnEitherEngine("references to a team's libraries", (opened) => {
  beforeAll(async () => {
    await addTeamsWithLibraries(opened());
    await addLibrary(opened(), { id: "lib-prod-diary", team: "team-a", namespace: "a-prod", name: "diary" });
  });
  const find = (...refs: [namespace: string, name: string][]) =>
    findInTeam(
      opened().db,
      "libraries",
      "team-a",
      refs.map(([namespace, name]) => ({ namespace, name })),
    );

  test("lead each to the one of its namespace, in the order in which they are asked for", async () => {
    expect(await find(["a-prod", "diary"], ["a-dev", "diary"], ["a-dev", "ops"], ["a-dev", "diary"])).toEqual([
      { id: "lib-prod-diary" },
      { id: "lib-diary" },
      "absent",
      { id: "lib-diary" },
    ]);
  });

  test("lead without a namespace to the only one of the name, and to none of several", async () => {
    expect(await find(["", "ops"], ["", "diary"], ["", "b-notes"])).toEqual([{ id: "lib-ops" }, "ambiguous", "absent"]);
  });
});
