import { describe, expect, test } from "vitest";
import { readLines } from "../../../cli/memory/library-lines.ts";

const jsonLines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join("\n");

describe("a file of atoms", () => {
  test("is read from the oldest on, with the numbers of its lines, blank ones left out", () => {
    const [newer, older] = [
      { id: "b", content: "Newer.", created: "2024-02-01T00:00:00.000Z" },
      { id: "a", content: "Older.", created: "2024-01-01T00:00:00.000Z" },
    ];
    const { atoms } = readLines(`\uFEFF${JSON.stringify(newer)}\r\n\n${JSON.stringify(older)}\n`, "x");
    expect(atoms).toEqual([
      { line: 3, atom: older },
      { line: 1, atom: newer },
    ]);
  });

  test("is read from the oldest on, in whichever order its lines are, and of one time the last line first", () => {
    const at = (month: string, id: string) => ({ id, content: id, created: `2024-${month}-01T00:00:00.000Z` });
    const file = jsonLines(at("02", "b"), at("03", "d"), at("03", "c"), at("01", "a"));
    expect(readLines(file, "x").atoms.map(({ atom }) => atom.id)).toEqual(["a", "b", "c", "d"]);
  });

  test("of @modelcontextprotocol/server-memory becomes an atom for each entity, and a link for each relation", () => {
    const file = jsonLines(
      { type: "entity", name: "Anna", entityType: "person", observations: ["likes tea", "is on call in May"] },
      { type: "relation", from: "Anna", to: "Keyplane", relationType: "maintains" },
      { type: "relation", from: "Anna", to: "Absent", relationType: "knows" },
      { type: "relation", from: "Absent", to: "Anna", relationType: "knows" },
      { type: "entity", name: "Keyplane", entityType: "project", observations: [] },
    );
    expect(readLines(file, "memory.jsonl")).toEqual({
      atoms: [
        {
          line: 1,
          atom: {
            id: "entity-1",
            content: "Anna (person)\n- likes tea\n- is on call in May",
            tags: ["person"],
            links: [{ rel: "maintains", id: "entity-5" }],
          },
        },
        { line: 5, atom: { id: "entity-5", content: "Keyplane (project)", tags: ["project"], links: [] } },
      ],
      strayRelations: 2,
    });
  });

  test.each<[string, string]>([
    ["", "x has no line"],
    ["\n \n", "x has no line"],
    ['{"content":"a"}\n{"content":', "line 2 of x is no JSON"],
    ['{"id":"a","content":"x"}\n{"content":"y"}\n{"id":"a","content":"z"}', 'line 3 of x has the "id" of line 1'],
    [
      jsonLines(...[1, 2].map(() => ({ type: "entity", name: "Anna", entityType: "person" }))),
      'line 2 of x has the "name" of line 1',
    ],
    ["[1]", "line 1 of x is no JSON object"],
    ['{"type":"entity","name":"a"}', 'line 1 of x lacks "entityType"'],
    [
      '{"type":"entity","name":"a","entityType":"t","observations":"b"}',
      'line 1 of x has "observations" that are no list',
    ],
    [
      '{"type":"entity","name":"a","entityType":"t","observations":["b",{"text":"c"}]}',
      'line 1 of x has "observations" that are no list of texts',
    ],
    ['{"type":"relation","from":"a","to":"b"}\n{"type":"note"}', "line 2 of x is neither an entity nor a relation"],
  ])("%j is refused by its line", (text, why) => {
    expect(() => readLines(text, "x")).toThrow(why);
  });
});
