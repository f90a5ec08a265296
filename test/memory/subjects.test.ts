import { sql } from "kysely";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { OPERATIONS } from "../../domain/access/operations.ts";
import { scopeSet } from "../../domain/access/scopes.ts";
import { mcpRoutes } from "../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { eraseSubject } from "../../store/libraries/subjects.ts";
import { run } from "../store/fixtures.ts";
import { memoryServer } from "./memory-server.ts";

/** What no other subject may learn; every atom is about coffee, so that each search would find all. */
const SAID = {
  shared: "Coffee is served on floor two: SHARED.",
  ana: "Ana drinks her coffee black: ANAS.",
  ben: "Ben drinks no coffee at all: BENS.",
} as const;
type Who = keyof typeof SAID;
const NOWHERE = "00000000-0000-7000-8000-000000000000";

const opened = memoryServer(mcpRoutes, memoryRoutes);
const keys = { many: "", bound: "", plain: "" };
beforeAll(() => {
  const { server } = opened();
  const scopes = scopeSet(["memory:read", "memory:write"]);
  const fields = { scopes, teamDefaultLibraryId: "lib-handbook" };
  // As most keys are: a part of a library is reached where the library is on the list.
  const libraryIds = ["lib-diary", "lib-handbook", "lib-ops"];
  keys.many = server.addKey({ ...fields, libraryIds, subject: { mode: "Required" } });
  keys.bound = server.addKey({ ...fields, libraryIds, subject: { mode: "Bound", subject: "ana" } });
  keys.plain = server.addKey(fields);
});

/** Who calls: a key that names the subject with each call, or one for what all share. */
function headersOf(who: Who): Record<string, string> {
  if (who === "shared") return { authorization: `Bearer ${keys.plain}` };
  return { authorization: `Bearer ${keys.many}`, "x-keyplane-subject": who };
}

/** Headers in their order, the same one twice where it is. */
type SentHeaders = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

function linesOf(headers: SentHeaders, more: Readonly<Record<string, string>>): [string, string][] {
  const given = Array.isArray(headers) ? headers : Object.entries(headers);
  return [...given, ...Object.entries(more)];
}

type TextAnswer = { readonly status: number; readonly text: string };

async function rest(headers: SentHeaders, method: string, path: string, body?: unknown): Promise<TextAnswer> {
  const isJson = body !== undefined;
  const answer = await fetch(opened().server.url + path, {
    method,
    headers: linesOf(headers, isJson ? { "content-type": "application/json" } : {}),
    ...(isJson ? { body: JSON.stringify(body) } : {}),
  });
  return { status: answer.status, text: await answer.text() };
}

async function rpc(headers: SentHeaders, method: string, params: object): Promise<TextAnswer> {
  const accept = "application/json, text/event-stream";
  const answer = await fetch(`${opened().server.url}/api/v1/memory/mcp`, {
    method: "POST",
    headers: linesOf(headers, { accept, "content-type": "application/json" }),
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const text = await answer.text();
  return { status: answer.status, text: /^data: (.*)$/m.exec(text)?.[1] ?? text };
}

const tool = (name: string, args: object = {}, headers?: SentHeaders) =>
  rpc(headers ?? headersOf("ana"), "tools/call", { name, arguments: args });

const ids: Record<Who, string> = { shared: "", ana: "", ben: "" };
beforeEach(async () => {
  await sql`delete from forgotten_atoms`.execute(opened().store.db);
  await sql`delete from repeatable_saves`.execute(opened().store.db);
  for (const who of ["shared", "ana", "ben"] as const) {
    const saved = await rest(headersOf(who), "POST", "/atoms", { content: SAID[who], tags: ["drinks"], source: who });
    expect(saved.status, saved.text).toBe(201);
    ids[who] = JSON.parse(saved.text).id;
  }
});

/** Each operation that reads more than one atom, as a call with these headers. */
const READS: Readonly<Record<string, (headers: SentHeaders) => Promise<TextAnswer>>> = {
  "atoms.list": (as) => rest(as, "GET", "/atoms"),
  "atoms.list of a library": (as) => rest(as, "GET", "/atoms?library=handbook&tag=drinks&sort=importance"),
  "atoms.search": (as) => rest(as, "GET", "/atoms/search?q=coffee"),
  "atoms.search of a library": (as) => rest(as, "GET", "/atoms/search?q=coffee&library=handbook"),
  "atoms.search for what is similar": (as) => rest(as, "GET", "/atoms/search?q=coffe"),
  "atoms.search for the nearest": (as) => rest(as, "GET", "/atoms/search?q=coffee+zebra"),
  "atoms.export": (as) => rest(as, "GET", "/atoms/export?library=handbook"),
  "mcp.memory_search": (as) => tool("memory_search", { query: "coffee" }, as),
  "mcp.memory_recall": (as) => tool("memory_recall", { query: "what about coffee?" }, as),
  "mcp.memory_recall by ids": (as) => tool("memory_recall", { ids: Object.values(ids) }, as),
  "mcp.memory_wake_up": (as) => tool("memory_wake_up", {}, as),
  "mcp.memory_list": (as) => tool("memory_list", { tags: ["drinks"] }, as),
};

test("b120: Each read shows a call what is of its subject and of all, and nothing else", async () => {
  const MARKS = { shared: "SHARED", ana: "ANAS", ben: "BENS" } as const;
  const SEEN: Readonly<Record<Who, readonly Who[]>> = {
    shared: ["shared"],
    ana: ["shared", "ana"],
    ben: ["shared", "ben"],
  };
  for (const [name, read] of Object.entries(READS)) {
    const answers: Record<string, string> = {};
    for (const who of ["shared", "ana", "ben"] as const) {
      const { status, text } = await read(headersOf(who));
      expect([name, status], text).toEqual([name, 200]);
      const found = (Object.keys(MARKS) as Who[]).filter((mark) => text.includes(MARKS[mark]));
      expect([name, found], text).toEqual([name, SEEN[who]]);
      answers[who] = text;
    }
    // Called by a key that is bound to a subject it is the same as where the call names it; a rank falls with time.
    const bound = (await read({ authorization: `Bearer ${keys.bound}` })).text;
    const withoutRank = (text = "") => text.replace(/"rank":[0-9.]+/g, "");
    expect(withoutRank(bound), name).toBe(withoutRank(answers.ana));
  }
});

/** Each operation that goes by an atom's id. */
const BY_ID: Readonly<Record<string, (id: string, headers: SentHeaders) => Promise<TextAnswer>>> = {
  "atoms.get": (id, as) => rest(as, "GET", `/atoms/${id}`),
  "atoms.revisions": (id, as) => rest(as, "GET", `/atoms/${id}/revisions`),
  "atoms.neighbours": (id, as) => rest(as, "GET", `/atoms/${id}/neighbours`),
  "atoms.update": (id, as) => rest(as, "PATCH", "/atoms", { id, revision: 1, importance: 9 }),
  "atoms.delete": (id, as) => rest(as, "DELETE", `/atoms/${id}`),
  "atoms.restore": (id, as) => rest(as, "POST", `/atoms/${id}/restore`),
  "mcp.memory_history": (id, as) => tool("memory_history", { id }, as),
  "mcp.memory_recall": (id, as) => tool("memory_recall", { id }, as),
  "mcp.memory_correct_atom": (id, as) => tool("memory_correct_atom", { id, importance: 9 }, as),
  "mcp.memory_forget_atom": (id, as) => tool("memory_forget_atom", { id }, as),
  "mcp.memory_forget_atom for ever": (id, as) => tool("memory_forget_atom", { id, now: true }, as),
};
const CHANGES = ["atoms.update", "atoms.delete", "mcp.memory_correct_atom", "mcp.memory_forget_atom"];

describe("An operation that goes by an atom's id", () => {
  const isFine = ({ status, text }: TextAnswer) => status < 300 && !text.includes('"isError":true');
  /** But for what is of the call: its id in the log, and what it asked for. */
  const plain = ({ status, text }: TextAnswer) => ({
    status,
    text: text.replaceAll(ids.ben, NOWHERE).replace(/"requestId":"[^"]*"/, ""),
  });

  test("does not tell another subject's atom from none, changes no shared one, and finds its own", async () => {
    const before = await rest(headersOf("shared"), "GET", `/atoms/${ids.shared}`);
    const others = await rest(headersOf("ben"), "GET", `/atoms/${ids.ben}`);
    expect(others.text).toContain('"revision":1');
    for (const [name, call] of Object.entries(BY_ID)) {
      for (const who of ["ana", "shared"] as const) {
        const what = `${name}, ${who}`;
        expect(plain(await call(ids.ben, headersOf(who))), what).toEqual(plain(await call(NOWHERE, headersOf(who))));
      }
      const answer = await call(ids.shared, headersOf("ana"));
      const isChange = CHANGES.some((change) => name.startsWith(change));
      expect([name, answer.text.includes("shared by all subjects")], answer.text).toEqual([name, isChange]);
      if (name.startsWith("atoms.") && isChange) {
        expect([name, answer.status]).toEqual([name, 403]);
        expect(JSON.parse(answer.text).detail).toBe(
          "This atom is shared by all subjects, and a call for one subject changes that subject's own alone: save what applies to this one as a new atom, or change the shared one with a key that has no subject.",
        );
      }
      expect(await rest(headersOf("shared"), "GET", `/atoms/${ids.shared}`), name).toEqual(before);
      expect(await rest(headersOf("ben"), "GET", `/atoms/${ids.ben}`), name).toEqual(others);
      const own = await rest(headersOf("ana"), "POST", "/atoms", { content: `By ${name}.` });
      expect([name, isFine(await call(JSON.parse(own.text).id, headersOf("ana")))]).toEqual([name, true]);
    }
  });
});

describe("What a subject saves", () => {
  const again = SAID.ben;
  const SAVES: Readonly<Record<string, () => Promise<TextAnswer>>> = {
    "atoms.create": () => rest(headersOf("ana"), "POST", "/atoms?duplicates=refuse", { content: again }),
    "atoms.create_batch": () =>
      rest(headersOf("ana"), "POST", "/atoms/batch?duplicates=refuse", { atoms: [{ content: again }] }),
    "atoms.import": () => rest(headersOf("ana"), "POST", "/atoms/import", { atoms: [{ content: again }] }),
    "mcp.memory_save_atom": () => tool("memory_save_atom", { content: again }),
  };

  test.each(Object.entries(SAVES))("by %s is its own, also where another one has it already", async (_name, save) => {
    const saved = await save();
    expect(saved.status, saved.text).toBeLessThan(300);
    expect(saved.text).not.toMatch(/"isError":true|Saved before/);
    expect((await rest(headersOf("ana"), "GET", "/atoms/search?q=bens")).text).toContain("BENS");
    expect((await rest(headersOf("shared"), "GET", "/atoms/search?q=bens")).text).not.toContain("BENS");
    expect(JSON.parse((await rest(headersOf("ben"), "GET", "/atoms/search?q=bens")).text).items).toHaveLength(1);
  });

  test("is refused where what all share says almost the same", async () => {
    const refused = await rest(headersOf("ana"), "POST", "/atoms?duplicates=refuse", { content: SAID.shared });
    expect(refused).toMatchObject({ status: 409, text: expect.stringContaining(ids.shared) });
  });

  test("is repeated for that subject alone, by an Idempotency-Key and as it is", async () => {
    const once = (who: Who) =>
      rest({ ...headersOf(who), "idempotency-key": "k" }, "POST", "/atoms", { content: "Once." });
    const [ana, ben, anew] = [await once("ana"), await once("ben"), await once("ana")];
    expect([ana.status, ben.status, anew.status]).toEqual([201, 201, 200]);
    expect(JSON.parse(anew.text).id).toBe(JSON.parse(ana.text).id);
    expect(JSON.parse(ben.text).id).not.toBe(JSON.parse(ana.text).id);
    const save = (who: Who) => tool("memory_save_atom", { content: "As it is." }, headersOf(who));
    const idOf = ({ text }: TextAnswer) => JSON.parse(text).result.structuredContent.atom.id;
    const first = idOf(await save("ana"));
    expect(idOf(await save("ben"))).not.toBe(first);
    expect(idOf(await save("ana"))).toBe(first);
  });

  test("links to what it may read, and replaces what is its own", async () => {
    const linked = (rel: string, id: string) =>
      rest(headersOf("ana"), "POST", "/atoms", { content: `A link ${rel}.`, links: [{ rel, id }] });
    expect((await linked("about", ids.shared)).status).toBe(201);
    expect((await linked("replaces", ids.ana)).status).toBe(201);
    expect(await linked("about", ids.ben)).toMatchObject({ status: 400 });
    expect(await linked("replaces", ids.shared)).toMatchObject({
      status: 400,
      text: expect.stringContaining("shared by all subjects"),
    });
    const links = [
      { rel: "replaces", id: ids.shared },
      { rel: "about", id: ids.ben },
    ];
    const imported = await rest(headersOf("ana"), "POST", "/atoms/import", { atoms: [{ content: "x", links }] });
    expect(JSON.parse(imported.text)).toMatchObject({ droppedLinks: 2 });
  });

  test("is not saved where its key is another's by the database, which this replica does not know yet", async () => {
    const { server, store } = opened();
    const scopes = scopeSet(["memory:read", "memory:write"]);
    const key = server.addKey({
      scopes,
      teamDefaultLibraryId: "lib-handbook",
      subject: { mode: "Bound", subject: "ana" },
    });
    const as = { authorization: `Bearer ${key}` };
    const save = (content: string) => rest(as, "POST", "/atoms", { content });
    expect((await save("Before.")).status).toBe(201);
    await sql`update keys set subject = 'ben' where subject = 'ana'`.execute(store.db);
    const refused = await save("After.");
    await sql`update keys set subject = 'ana' where subject = 'ben'`.execute(store.db);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    for (const who of ["ana", "ben"] as const) {
      expect((await rest(headersOf(who), "GET", "/atoms")).text).not.toContain("After.");
    }
  });

  test("is a neighbour of what is shared for that subject alone, and is found by its metadata by no other", async () => {
    const links = [{ rel: "about", id: ids.shared }];
    const metadata = { table: "seven" };
    await rest(headersOf("ana"), "POST", "/atoms", { content: "Ana's note on it.", links, metadata });
    for (const who of ["shared", "ana", "ben"] as const) {
      const beside = await rest(headersOf(who), "GET", `/atoms/${ids.shared}/neighbours`);
      expect(JSON.parse(beside.text).items).toHaveLength(who === "ana" ? 1 : 0);
      expect((await tool("memory_recall", { id: ids.shared }, headersOf(who))).text.includes("Ana's note")).toBe(
        who === "ana",
      );
      const found = await rest(headersOf(who), "GET", "/atoms?metadata.table=seven");
      expect(JSON.parse(found.text).items).toHaveLength(who === "ana" ? 1 : 0);
    }
  });

  test("is imported again for that subject alone", async () => {
    const send = (who: Who, content: string) =>
      rest(headersOf(who), "POST", "/atoms/import", { upsert: true, atoms: [{ id: "note-1", content }] });
    const outcomes = async (who: Who, content: string) => JSON.parse((await send(who, content)).text).outcomes;
    expect(await outcomes("shared", "A note.")).toEqual(["created"]);
    expect(await outcomes("ana", "Ana's note.")).toEqual(["created"]);
    expect(await outcomes("ana", "Ana's note.")).toEqual(["unchanged"]);
    expect(await outcomes("ben", "Ben's note.")).toEqual(["created"]);
    expect(await outcomes("ana", "Ana's other note.")).toEqual(["corrected"]);
    expect((await rest(headersOf("ben"), "GET", "/atoms/search?q=note")).text).not.toContain("Ana's other");
    const own = { upsert: true, atoms: [{ id: ids.shared, content: "Taken over." }] };
    expect(JSON.parse((await rest(headersOf("ana"), "POST", "/atoms/import", own)).text).outcomes).toEqual(["created"]);
    expect((await rest(headersOf("shared"), "GET", `/atoms/${ids.shared}`)).text).not.toContain("Taken over");
  });

  test("is saved anew by a repetition, once the subject was erased", async () => {
    const headers = { ...headersOf("ana"), "idempotency-key": "once-more" };
    const save = () => rest(headers, "POST", "/atoms", { content: "To be erased." });
    const first = JSON.parse((await save()).text).id;
    const library = { id: "lib-handbook", namespace: "a-dev", name: "handbook", teamId: "team-a" };
    await run(opened().store, (tx) => eraseSubject(tx, { library, subject: "ana", by: { actor: "a test" } }));
    const anew = await save();
    expect([anew.status, JSON.parse(anew.text).id === first]).toEqual([201, false]);
  });

  test("is forgotten and deleted by it", async () => {
    const save = async (content: string) =>
      JSON.parse((await rest(headersOf("ana"), "POST", "/atoms", { content })).text).id as string;
    const [first, second, third] = [await save("One thing."), await save("Another."), await save("A third.")];
    expect((await tool("memory_forget_atom", { id: first })).text).toContain("keptUntil");
    expect((await tool("memory_forget_atom", { id: second, now: true })).text).not.toContain('"isError":true');
    expect((await rest(headersOf("ana"), "DELETE", `/atoms/${third}`)).status).toBe(204);
    for (const id of [first, second, third]) {
      expect((await rest(headersOf("ana"), "GET", `/atoms/${id}`)).status).toBe(404);
    }
    expect((await rest(headersOf("ana"), "POST", `/atoms/${first}/restore`)).status).toBe(200);
  });

  test("is restored for that subject alone", async () => {
    await tool("memory_forget_atom", { id: ids.ana });
    for (const who of ["ben", "shared"] as const) {
      expect((await rest(headersOf(who), "POST", `/atoms/${ids.ana}/restore`)).status).toBe(404);
    }
    expect((await rest(headersOf("ana"), "POST", `/atoms/${ids.ana}/restore`)).status).toBe(200);
  });
});

describe("Of what a call for a subject is answered with", () => {
  const ofRest: Readonly<Record<string, string>> = {
    list: "/atoms",
    search: "/atoms/search?q=coffee",
    neighbours: "",
    atom: "",
  };

  test.each(Object.keys(ofRest))("each atom says whether it is shared, over REST: %s", async (what) => {
    const links = [{ rel: "about", id: ids.shared }];
    const { text } = await rest(headersOf("ana"), "POST", "/atoms", { content: "Ana's coffee.", links });
    const mine = JSON.parse(text);
    expect(mine.shared).toBe(false);
    const asked =
      { neighbours: `/atoms/${mine.id}/neighbours`, atom: `/atoms/${ids.shared}` }[what] ?? ofRest[what] ?? "";
    const sharedOf = async (who: Who) => {
      const answer = JSON.parse((await rest(headersOf(who), "GET", asked)).text);
      const items: { id: string; shared?: boolean }[] = answer.items ?? [answer];
      return new Map(items.map((item) => [item.id, item.shared]));
    };
    const found = await sharedOf("ana");
    expect(found.get(ids.shared)).toBe(true);
    if (found.size > 1) expect([found.get(ids.ana), found.get(mine.id)]).toEqual([false, false]);
    if (!asked.includes(mine.id)) expect((await sharedOf("shared")).get(ids.shared)).toBeUndefined();
  });

  test.each([
    ["memory_search", { query: "coffee" }],
    ["memory_recall", { query: "coffee" }],
    ["memory_list", {}],
    ["memory_wake_up", {}],
  ] as const)("each shared atom is marked, over MCP, and no other: %s", async (name, args) => {
    const marked = async (who: Who) => {
      const { result } = JSON.parse((await tool(name, args, headersOf(who))).text);
      const { items, atoms, important = [], recent = [] } = result.structuredContent;
      const shown: { id: string; shared?: boolean }[] = items ?? atoms ?? [...important, ...recent];
      const said = result.content[0].text.split("shared by all").length - 1;
      return { said, of: new Map(shown.map(({ id, shared }) => [id, shared])) };
    };
    const { said, of } = await marked("ana");
    expect([said, of.get(ids.shared), of.has(ids.ana), of.get(ids.ana)]).toEqual([1, true, true, undefined]);
    expect((await marked("shared")).said).toBe(0);
  });
});

describe("What is said beside a near-duplicate that is shared is what the subject may do", () => {
  const save = async (content: string, more: object = {}) => {
    const { result } = JSON.parse((await tool("memory_save_atom", { content, ...more })).text);
    return { note: result.content[0].text as string, ...result.structuredContent };
  };

  test("over MCP where it refuses the save", async () => {
    const refused = await save(SAID.shared);
    expect(refused.nearDuplicates).toMatchObject([{ atom: { id: ids.shared, shared: true } }]);
    expect(refused.note).toContain("allowDuplicate");
    expect(refused.note).not.toMatch(/memory_correct_atom|replaces/);
    expect((await save(SAID.shared, { allowDuplicate: true })).atom.id).not.toBe(ids.shared);
    // Now its own says it too.
    const both = await save(`${SAID.shared}!`);
    expect(both.note).toContain("memory_correct_atom");
    expect(both.note).toContain("no call for one subject corrects");
  });

  test("over MCP where it is shown beside the save", async () => {
    await rest(headersOf("shared"), "POST", "/atoms", { content: "The canteen opens at 11 on all days." });
    const saved = await save("The canteen opens at 12 on all days.");
    expect(saved.note).toContain("to this subject alone");
    expect(saved.note).not.toMatch(/correct|replaces/);
  });

  test("over REST", async () => {
    const content = SAID.shared;
    const refused = await rest(headersOf("ana"), "POST", "/atoms?duplicates=refuse", { content });
    const { detail } = JSON.parse(refused.text);
    expect(detail).toContain("duplicates=allow");
    expect(detail).not.toContain("PATCH");
    const reported = await rest(headersOf("ana"), "POST", "/atoms?duplicates=report", { content });
    expect(JSON.parse(reported.text).nearDuplicates).toMatchObject([{ id: ids.shared, shared: true }]);
  });
});

test("A cursor of one subject continues no list of another", async () => {
  await rest(headersOf("ana"), "POST", "/atoms", { content: "One more." });
  const { nextCursor } = JSON.parse((await rest(headersOf("ana"), "GET", "/atoms?limit=1")).text);
  const next = (who: Who) => rest(headersOf(who), "GET", `/atoms?limit=1&cursor=${nextCursor}`);
  expect((await next("ana")).status).toBe(200);
  expect((await next("ben")).status).toBe(404);
  expect((await next("shared")).status).toBe(404);
});

test("memory_libraries lists libraries alone, however many subjects have saved in them", async () => {
  const of = async (who: Who) =>
    JSON.parse((await tool("memory_libraries", {}, headersOf(who))).text).result.structuredContent.items;
  expect(await of("ana")).toEqual(await of("shared"));
  expect(await of("ana")).toHaveLength(3);
});

test("Each operation of the memory is in one of the tables", () => {
  const tested = [...Object.keys(READS), ...Object.keys(BY_ID)].map((name) => name.split(" ")[0]);
  const saves = ["atoms.create", "atoms.create_batch", "atoms.import", "mcp.memory_save_atom"];
  const listed = Object.entries(OPERATIONS).flatMap(([name, { product }]) => (product === "memory" ? [name] : []));
  // Those of conversations: test/memory/extraction/library-extractor.test.ts.
  const others = ["mcp.connect", "mcp.memory_libraries", "atoms.extract", "atoms.extraction"];
  expect([...new Set([...tested, ...saves, ...others])].sort()).toEqual(listed.sort());
});

describe("A call that does not say whose memory it means as its key is declared", () => {
  const ways: Readonly<Record<string, (headers: SentHeaders) => Promise<TextAnswer>>> = {
    "over REST": (as) => rest(as, "GET", "/atoms"),
    "that writes, over REST": (as) => rest(as, "POST", "/atoms", { content: "Whose?" }),
    "over MCP, whatever it asks": (as) => rpc(as, "tools/list", {}),
    "of a tool": (as) => tool("memory_list", {}, as),
  };
  const as = (key: string, ...subjects: string[]): SentHeaders => [
    ["authorization", `Bearer ${key}`],
    ...subjects.map((subject) => ["x-keyplane-subject", Buffer.from(subject).toString("latin1")] as const),
  ];

  test.each(Object.entries(ways))("is refused %s, and never given everything", async (_way, call) => {
    const missing = await call(as(keys.many));
    expect(missing).toMatchObject({ status: 400, text: expect.stringContaining("in the header X-Keyplane-Subject") });
    for (const bad of ["a b", "ä", "*", "a,b", "u".repeat(129)]) {
      const malformed = await call(as(keys.many, bad));
      expect(malformed).toMatchObject({ status: 400, text: expect.stringContaining("names one subject, once") });
    }
    expect(await call(as(keys.many, "ana", "ana"))).toMatchObject({ status: 400 });
    const undeclared = await call(as(keys.plain, "ana"));
    expect(undeclared).toMatchObject({ status: 400, text: expect.stringContaining("declare subjectAccess") });
    const another = await call(as(keys.bound, "ben"));
    expect(JSON.parse(another.text)).toMatchObject({
      status: 403,
      detail:
        "This key is bound to one subject, and X-Keyplane-Subject names another: leave the header out, or declare subjectAccess with mode Required on the PlatformKey.",
    });
    expect((await call(as(keys.bound, "ana"))).status).toBeLessThan(300);
  });
});
