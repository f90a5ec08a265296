import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { UsageError } from "../../../cli/command/usage-error.ts";
import { type ImportItem, idFor } from "../../../cli/memory/import-item.ts";
import { readFileText } from "../../../cli/memory/read-import.ts";
import { ANY_CHARACTER } from "../../env/any-character.ts";

const jsonLines = (...values: unknown[]) => values.map((value) => JSON.stringify(value)).join("\n");
const atomsOf = (text: string, file = "x") => readFileText(text, file).items.map(({ atom }) => atom);
const contents = (items: readonly ImportItem[]) => items.map(({ atom }) => String(atom.content)).join("\n");

describe("a file of atoms", () => {
  test("is read from the oldest on, with the numbers of its lines, blank ones left out", () => {
    const [newer, older] = ["b", "a"].map((letter, at) => ({
      id: `00000000-0000-7000-8000-00000000000${letter}`,
      content: letter,
      created: `2024-0${2 - at}-01T00:00:00.000Z`,
    }));
    const { items } = readFileText(`\uFEFF${JSON.stringify(newer)}\r\n\n${JSON.stringify(older)}\n`, "x");
    expect(items).toEqual([
      { where: "line 3 of x", atom: older },
      { where: "line 1 of x", atom: newer },
    ]);
  });

  test("is read from the oldest on, in whichever order its lines are, and of one time the last line first", () => {
    const at = (month: string, content: string) => ({ content, created: `2024-${month}-01T00:00:00.000Z` });
    const file = jsonLines(at("02", "b"), at("03", "d"), at("03", "c"), at("01", "a"));
    expect(atomsOf(file).map(({ content }) => content)).toEqual(["a", "b", "c", "d"]);
  });

  test("has ids of its own where these are of no atom, and for lines without one, by which they are known again", () => {
    const lines = [{ id: "a", content: "x" }, { content: "y", links: [{ rel: "r", id: "a" }] }, { content: "y" }];
    const [third, second, first] = atomsOf(jsonLines(...lines), "dir/notes.jsonl");
    expect(first).toEqual({ id: idFor("notes.jsonl", "a"), content: "x" });
    expect(second?.links).toEqual([{ rel: "r", id: first?.id }]);
    expect(new Set([first?.id, second?.id, third?.id]).size).toBe(3);
    expect(atomsOf(jsonLines(...lines), "elsewhere/notes.jsonl").map(({ id }) => id)).toEqual([
      ...[third?.id, second?.id, first?.id],
    ]);
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
    ['{"type":"relation","from":"a","to":"b"}\n{"type":"note"}', "line 1 of x lacks"],
    [
      '{"type":"relation","from":"a","to":"b","relationType":"r"}\n{"type":"note"}',
      "line 2 of x is neither an entity nor a relation",
    ],
  ])("%j is refused by its line", (text, why) => {
    expect(() => readFileText(text, "x")).toThrow(why);
  });
});

describe("the file of @modelcontextprotocol/server-memory", () => {
  const entity = (name: string, ...observations: string[]) => ({ type: "entity", name, entityType: "", observations });
  const relation = (from: string, relationType: string, to: string) => ({ type: "relation", from, relationType, to });

  test("becomes an atom for each entity, and a link for each relation; one that leads nowhere stays as text", () => {
    const file = jsonLines(
      { type: "entity", name: "Anna", entityType: "person", observations: ["likes tea", "is on call in May"] },
      relation("Anna", "maintains", "Keyplane"),
      relation("Anna", "knows", "Absent"),
      relation("Absent", "trusts", "Anna"),
      entity("Keyplane"),
    );
    const [anna, keyplane] = [idFor("memory.jsonl", "Anna"), idFor("memory.jsonl", "Keyplane")];
    const empty = { metadata: {}, source: "memory.jsonl", links: [] };
    expect(readFileText(file, "some/memory.jsonl")).toEqual({
      items: [
        {
          where: "line 1 of some/memory.jsonl",
          atom: {
            ...{ ...empty, id: anna, tags: ["person"], links: [{ rel: "maintains", id: keyplane }] },
            content: "Anna (person)\n- likes tea\n- is on call in May\n- Anna knows Absent\n- Absent trusts Anna",
          },
        },
        { where: "line 5 of some/memory.jsonl", atom: { ...empty, id: keyplane, content: "Keyplane", tags: [] } },
      ],
      leftOut: [],
      strayLinks: 2,
    });
  });

  test("loses no text of an observation that is longer than an atom, nor a relation beyond 32", () => {
    const long = Array.from({ length: 20_000 }, (_, i) => `word${i} 東😀`).join(" ");
    const others = Array.from({ length: 70 }, (_, i) => entity(`Other ${i}`));
    const relations = others.map(({ name }) => relation("Anna", "knows", name));
    const { items } = readFileText(jsonLines(entity("Anna", "short", long), ...others, ...relations), "m");
    const annas = items.filter(({ where }) => where === "line 1 of m").map(({ atom }) => atom);
    for (const { content } of annas) expect(Array.from(String(content)).length).toBeLessThanOrEqual(65_536);
    const text = annas.map(({ content }) => String(content).replace(/^Anna \(continued, \d+\)\n/, "")).join("");
    expect(text).toContain(long);
    const links = annas.map((atom) => atom.links as { rel: string; id: string }[]);
    expect(Math.max(...links.map((each) => each.length))).toBe(32);
    expect(
      links
        .flat()
        .filter(({ rel }) => rel === "knows")
        .map(({ id }) => id),
    ).toEqual(others.map(({ name }) => idFor("m", name)));
    const continued = links.slice(1).map((each) => each[0]);
    expect(continued).toEqual(annas.slice(0, -1).map(({ id }) => ({ rel: "continues", id })));
  });

  test("keeps long names, types and kinds of relations as text, where they are too long for a tag or a link", () => {
    const [name, type] = ["n".repeat(70_000), "t".repeat(65)];
    const file = jsonLines({ ...entity(name), entityType: type }, entity("B"), relation("B", "r".repeat(65), name));
    const { items } = readFileText(file, "m");
    expect(contents(items).replaceAll(/\n.*\(continued, 2\)\n/g, "")).toContain(name);
    expect(contents(items)).toContain(`(${type})`);
    const b = items.find(({ atom }) => atom.id === idFor("m", "B"))?.atom;
    expect(b).toMatchObject({ links: [{ rel: "relates to", id: idFor("m", name) }] });
    expect(b?.content).toContain("r".repeat(65));
  });
});

describe("what mem0 exports", () => {
  const memory = {
    ...{ id: "3c90c3cc-0d44-4b50-8888-8dd25736052a", memory: "Likes tea.", user_id: "anna", agent_id: null },
    ...{ hash: "h", score: 0.5, metadata: { room: 4, deep: { a: [1] } }, categories: ["food", "food"] },
    ...{ created_at: "2024-07-20T01:30:36.275141-07:00", updated_at: null, expiration_date: "2999-01-01" },
  };
  const atom = {
    ...{ id: idFor("mem0", memory.id), content: "Likes tea.", tags: ["food"], source: "mem0", links: [] },
    metadata: { room: 4, deep: '{"a":[1]}', user_id: "anna" },
    ...{ created: "2024-07-20T08:30:36.275Z", expiresAt: "2999-01-01T00:00:00.000Z" },
  };

  test.each<[string, unknown]>([
    ["a list", [memory]],
    ["a page", { count: 1, next: null, previous: null, results: [memory] }],
    ["an export", { memories: [memory] }],
  ])("is an atom for each memory of %s", (_what, document) => {
    expect(atomsOf(JSON.stringify(document, null, 2))).toEqual([atom]);
    expect(atomsOf(JSON.stringify(document), "another name")).toEqual([atom]);
  });

  test("is read without the memories that have no text, which are named, and with the relations of its graph", () => {
    const relations = [
      { source: "anna", relationship: "likes", target: "tea" },
      { source: "anna", relationship: "likes", destination: "tea" },
    ];
    const results = [{ ...memory, memory: " " }, memory, memory, 7];
    const { items, leftOut } = readFileText(JSON.stringify({ results, relations }), "x");
    expect(leftOut.map(({ what }) => what)).toEqual(["memory 1 of x", "memory 4 of x"]);
    expect(items.map((item) => item.atom.content)).toEqual(["Likes tea.", "anna likes tea"]);
  });

  test("has metadata of a name that no server takes as text", () => {
    const [made] = atomsOf('[{"memory":"x","metadata":{"__proto__":"y","a":1}}]');
    expect(made).toMatchObject({ content: "x\n__proto__: y", metadata: { a: 1 } });
    expect(JSON.stringify(made?.metadata)).toBe('{"a":1}');
  });

  test("has metadata that an atom has no room for as text", () => {
    const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`name${i}`, "v".repeat(i * 100)]));
    const [made] = atomsOf(JSON.stringify([{ memory: "x", metadata }]));
    const kept = made?.metadata as Record<string, string>;
    expect(Object.keys(kept).length).toBeLessThanOrEqual(16);
    expect(Buffer.byteLength(JSON.stringify(kept))).toBeLessThanOrEqual(4_096);
    for (const [name, value] of Object.entries(metadata)) {
      if (value !== "")
        expect(kept[name] === value || String(made?.content).includes(`${name}: ${value}`), name).toBe(true);
    }
  });
});

describe("whatever a file has", () => {
  const name = fc.oneof(fc.string({ unit: ANY_CHARACTER, maxLength: 80 }), fc.constantFrom("a", "b", "__proto__"));

  test("it is read or refused as wrong use, and nothing else comes of it", () => {
    const junk = fc.oneof(
      fc.string({ unit: ANY_CHARACTER }),
      fc.json(),
      fc.array(fc.json()).map((lines) => lines.map((line) => JSON.stringify(JSON.parse(line))).join("\n")),
      fc
        .array(fc.record({ memory: fc.jsonValue(), metadata: fc.jsonValue(), created_at: fc.string() }))
        .map((each) => JSON.stringify(each)),
      fc
        .array(
          fc.record(
            {
              type: fc.constantFrom("entity", "relation"),
              name,
              entityType: name,
              from: name,
              to: name,
              relationType: name,
            },
            { requiredKeys: ["type"] },
          ),
        )
        .map((each) => jsonLines(...each)),
    );
    fc.assert(
      fc.property(junk, (text) => {
        try {
          for (const { atom } of readFileText(text, "x").items) expect(atom).toHaveProperty("id");
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
        }
      }),
    );
  });

  test("an entity's name, type and observations are in its atoms, and these keep to the limits of an atom", () => {
    const fields = fc.record({ name, entityType: name, observations: fc.array(name) });
    fc.assert(
      fc.property(fields, (given) => {
        const { items } = readFileText(jsonLines({ type: "entity", ...given }), "x");
        const text = contents(items);
        const stored = (said: string) => said.replaceAll("\u0000", "\uFFFD").toWellFormed().trim();
        for (const said of [given.name, given.entityType, ...given.observations]) expect(text).toContain(stored(said));
        for (const { atom } of items) expect(String(atom.content)).not.toBe("");
      }),
    );
  });
});
