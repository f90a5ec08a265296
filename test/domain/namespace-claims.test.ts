import { describe, expect, test } from "vitest";
import { firstClaims } from "../../domain/namespace-claims.ts";

type Row = readonly [promise: string, teams: readonly (readonly [string, number])[], first: string | undefined];

/** Teams by name and age, each of which claims `dev`. */
const ROWS: readonly Row[] = [
  ["that no team claims is no team's", [], undefined],
  ["that one team claims is that team's", [["ant", 5]], "ant"],
  [
    "is the older team's, whatever their names",
    [
      ["ant", 2],
      ["zebra", 1],
    ],
    "zebra",
  ],
  [
    "is the first's by name of equally old teams",
    [
      ["zebra", 1],
      ["ant", 1],
      ["bee", 2],
    ],
    "ant",
  ],
  [
    "is the first's by name of teams whose age is not known",
    [
      ["zebra", Number.POSITIVE_INFINITY],
      ["ant", Number.POSITIVE_INFINITY],
    ],
    "ant",
  ],
  [
    "is the team's whose age is known, before one that is yet to be",
    [
      ["ant", Number.POSITIVE_INFINITY],
      ["zebra", 9],
    ],
    "zebra",
  ],
];

describe("a namespace that no team holds", () => {
  test.each(ROWS)("%s", (_, teams, first) => {
    const claims = teams.map(([name, createdAt]) => ({ name, createdAt, namespaces: ["dev", "dev"] }));
    expect(firstClaims(claims).get("dev")).toBe(first);
    expect(firstClaims(claims.toReversed()).get("dev")).toBe(first);
  });
});

test("each namespace of a team is decided for itself", () => {
  const teams = [
    { name: "zebra", createdAt: 1, namespaces: ["dev"] },
    { name: "ant", createdAt: 2, namespaces: ["dev", "lab"] },
  ];
  expect(firstClaims(teams)).toEqual(
    new Map([
      ["dev", "zebra"],
      ["lab", "ant"],
    ]),
  );
});
