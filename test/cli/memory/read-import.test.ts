import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { UsageError } from "../../../cli/command/usage-error.ts";
import { type ImportItem, idFor } from "../../../cli/memory/import-item.ts";
import { readFileText, readImport } from "../../../cli/memory/read-import.ts";
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

  test("keeps each digit of a whole number, which becomes text where a number would change", () => {
    const long = '{"content":"a","metadata":{"id":1234567890123456789,"n":-9007199254740992,"small":7,"part":0.5}}';
    const metadata = { id: "1234567890123456789", n: "-9007199254740992", small: 7, part: 0.5 };
    expect(atomsOf(long)).toMatchObject([{ metadata }]);
    expect(atomsOf(`${long}\n{"content":"b"}`).find(({ content }) => content === "a")).toMatchObject({ metadata });
    const memory = '[{"id":"m","memory":"a","metadata":{"id":1234567890123456789}}]';
    expect(atomsOf(memory)).toMatchObject([{ metadata: { id: "1234567890123456789" } }]);
  });

  test.each<[string, string]>([
    ["", "x has no line"],
    ["\n \n", "x has no line"],
    ["one\n[2]", "line 1 of x: it is no JSON, and so on for 1 more"],
    ['{\n  "content": "a"\n}\n{\n  "content": "b"\n}', "write each object on one line, as `jq -c .` does"],
    ['{"type":"entity","name":"a"}', 'line 1 of x: it lacks "entityType"'],
    ["[1]", "x is one JSON document, a list of numbers: "],
    ["[]", "x is one JSON document, an empty list: "],
    ["7", "x is one JSON document, a number: "],
    ['{\n  "facts": [],\n  "b": 1\n}', 'x is one JSON document, an object with "facts", "b": known are lines of atoms'],
    ['[{"text":"a"},\n{"content":"b"}]', 'x is one JSON document, a list of objects with "text", "content": '],
    ['{"entities":[],"relations":[]}', 'x is one JSON document, an object with "entities", "relations": '],
  ])("%j is refused, and why", (text, why) => {
    expect(() => readFileText(text, "x")).toThrow(why);
  });

  test.each<[string, string[]]>([
    ['{"content":"a"}\n{"content":', ["line 2 of x: it is no JSON"]],
    ['[1]\n{"content":"a"}\n"b"\nnull', [1, 3, 4].map((line) => `line ${line} of x: it is no JSON object`)],
    [
      '{"id":"i","content":"a"}\n{"content":"b"}\n{"id":"i","content":"c"}',
      ['line 3 of x: it has the "id" of line 1, and links could lead to either'],
    ],
  ])("%j is read without the lines that are none, which are named", (text, named) => {
    const { items, leftOut } = readFileText(text, "x");
    expect(items.map(({ atom }) => atom.content)).toContain("a");
    expect(leftOut.map(({ what, why }) => `${what}: ${why}`)).toEqual(named);
  });

  test("that is no UTF-8 is refused, from wherever it comes", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "keyplane-import-")), "notes.jsonl");
    onTestFinished(() => rmSync(dirname(file), { recursive: true }));
    const text = '{"content":"Größe"}\n';
    for (const bytes of [Buffer.from(text, "latin1"), Buffer.from(`\uFEFF${text}`, "utf16le")]) {
      writeFileSync(file, bytes);
      await expect(readImport(file)).rejects.toThrow("notes.jsonl is no text in UTF-8: convert it");
    }
    writeFileSync(file, `\uFEFF${text}`);
    expect((await readImport(file)).items).toMatchObject([{ atom: { content: "Größe" } }]);
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

  test.each<[string, unknown, string]>([
    ["a relation without its kind", { type: "relation", from: "Ledger", to: "Billing" }, 'it lacks "relationType"'],
    ["an entity without its type", { type: "entity", name: "Anna" }, 'it lacks "entityType"'],
    [
      "observations that are a text",
      { ...entity("Anna"), observations: "b" },
      'it has "observations" that are no list of texts',
    ],
    [
      "observations that are objects",
      { ...entity("Anna"), observations: ["b", { text: "c" }] },
      'it has "observations" that are no list of texts',
    ],
    ["an entity again", entity("Ledger", "other"), 'it has the "name" of line 1, and links could lead to either'],
    ["another kind", { type: "note" }, "it is neither an entity nor a relation"],
    ["none", {}, "it is neither an entity nor a relation"],
    ["no object", 7, "it is no JSON object"],
  ])("is read without a line that is none, which is named: %s", (_what, line, why) => {
    const others = [entity("Billing"), relation("Ledger", "feeds", "Billing")];
    const { items, leftOut } = readFileText(jsonLines(entity("Ledger"), line, ...others), "m");
    expect(leftOut).toEqual([{ what: "line 2 of m", why }]);
    const feeds = { rel: "feeds", id: idFor("m", "Billing") };
    expect(items.map(({ atom: { content, links } }) => [content, links])).toEqual([
      ["Ledger", [feeds]],
      ["Billing", []],
    ]);
  });

  test("is known by any of its lines: another tool's begins with a mark of its own, and the first may be bad", () => {
    const marked = [{ type: "_aim", source: "mcp-knowledge-graph" }, entity("Anna")];
    expect(readFileText(jsonLines(...marked), "m")).toMatchObject({
      items: [{ atom: { content: "Anna" } }],
      leftOut: [],
    });
    expect(readFileText(jsonLines(marked[0]), "m")).toEqual({ items: [], leftOut: [], strayLinks: 0 });
    const { items, leftOut } = readFileText(`{"type":\n${jsonLines({ a: 1 }, entity("Anna"))}`, "m");
    expect([items.length, leftOut.map(({ what }) => what)]).toEqual([1, ["line 1 of m", "line 2 of m"]]);
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

  test.each<[object, string]>([
    [{ count: 250, next: "https://mem0.example/v2?page=2" }, "1 of 250 memories"],
    [{ next: "https://mem0.example/v2?page=2" }, "1 of more memories"],
    [{ count: 250, next: null, previous: "https://mem0.example/v2?page=1" }, "1 of 250 memories"],
    [{ count: 250 }, "1 of 250 memories"],
  ])("c100: is one page of several with %j, which is said", (page, what) => {
    const { items, leftOut } = readFileText(JSON.stringify({ ...page, results: [memory] }), "x");
    expect([items.length, leftOut]).toEqual([
      1,
      [{ what: "the other pages of x", why: `it has ${what}: export and import the rest too` }],
    ]);
  });

  test("is the same from its client for TypeScript, which writes every name in camelCase", () => {
    const { user_id, agent_id, created_at, updated_at, expiration_date, ...same } = memory;
    const names = { agentId: agent_id, createdAt: created_at, updatedAt: updated_at, expirationDate: expiration_date };
    expect(atomsOf(JSON.stringify({ results: [{ ...same, ...names, userId: user_id }] }))).toEqual([atom]);
    const scopes = { agentId: "a", appId: "b", runId: "c", actorId: "d", role: "user" };
    const times = { createdAt: "2024-03-01T10:00:00.000Z", updatedAt: "2024-04-02T11:00:00.000Z" };
    const metadata = { userId: "of its own", run_id: "lost to the memory's own", note: "kept" };
    expect(atomsOf(JSON.stringify([{ memory: "x", ...scopes, ...times, metadata }]))).toMatchObject([
      {
        metadata: {
          userId: "of its own",
          note: "kept",
          agent_id: "a",
          app_id: "b",
          run_id: "c",
          actor_id: "d",
          role: "user",
        },
        ...{ created: times.createdAt, updated: times.updatedAt },
      },
    ]);
  });

  test.each([
    ["2024-01-05 10:00:00 +0200", "2024-01-05T08:00:00.000Z"],
    ["2024-01-05 10:00:00.25+00", "2024-01-05T10:00:00.250Z"],
    ["2024-01-05t10:00:00-03:30", "2024-01-05T13:30:00.000Z"],
    ["2024-01-05T10:00z", "2024-01-05T10:00:00.000Z"],
    ["2024-01-05 10:00:00 UTC", "2024-01-05T10:00:00.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ])("has its times as Jekyll, PostgreSQL, Ruby and others write them: %s is %s", (created_at, created) => {
    expect(atomsOf(JSON.stringify([{ memory: "x", created_at }]))).toMatchObject([{ created, metadata: {} }]);
  });

  test.each(["5 January 2024", "2024-02-30", "2024-01-05 10:00 +02:60", 1_704_448_800])(
    "keeps a time that is not read among its metadata: %s",
    (said) => {
      const times = { created_at: said, updatedAt: said, expiration_date: said };
      const [made] = atomsOf(JSON.stringify([{ memory: "x", ...times }]));
      expect(made?.metadata).toEqual({ created_at: said, updated_at: said, expiration_date: said });
      expect(made).not.toHaveProperty("created");
    },
  );

  test("is read without the memories that have no text, which are named, and with the relations of its graph", () => {
    const relations = [
      { source: "anna", relationship: "likes", target: "tea" },
      { source: "anna", relationship: "likes", destination: "tea" },
    ];
    const results = [{ ...memory, memory: " " }, memory, memory, 7];
    const bad = [{ source: "anna", target: "tea" }, "likes"];
    const { items, leftOut } = readFileText(JSON.stringify({ results, relations: [...relations, ...bad] }), "x");
    expect(leftOut.map(({ what }) => what)).toEqual([
      ...["memory 1 of x", "memory 4 of x", "relation 3 of x", "relation 4 of x"],
    ]);
    expect(items.map((item) => item.atom.content)).toEqual(["Likes tea.", "anna likes tea"]);
  });

  test("has metadata of the name of a scope that it is not of", () => {
    expect(atomsOf('[{"memory":"x","agentId":null,"metadata":{"role":"lead","agent_id":"b"}}]')).toMatchObject([
      { metadata: { role: "lead", agent_id: "b" } },
    ]);
  });

  test("has its categories as tags, whatever they are", () => {
    const categories = ["food", 7, true, { b: "c" }];
    expect(
      atomsOf(
        JSON.stringify([
          { memory: "x", categories },
          { memory: "y", categories: "one" },
        ]),
      ),
    ).toMatchObject([{ tags: ["food", "7", "true"], metadata: { categories: '[{"b":"c"}]' } }, { tags: ["one"] }]);
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
