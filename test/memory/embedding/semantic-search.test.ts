import { afterAll, beforeAll, expect, test } from "vitest";
import { createQuestionEmbedder } from "../../../memory/embedding/question.ts";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../../memory/rest/routes.ts";
import { correctAtom } from "../../../memory/store/writes/atom-writes.ts";
import type { Store } from "../../../store/database/store.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { describeOnEachEngineWithVectors } from "../../env/database/engines.ts";
import { startHarness } from "../../server/harness.ts";
import { run } from "../../store/fixtures.ts";
import { callTool } from "../mcp/tool-calls.ts";
import { startEmbeddedLibrary } from "./embedded-library.ts";
import { answerConcepts, answerVectors, type Ending, startEmbeddingUpstream, textsOf } from "./embedding-upstream.ts";

const CAR = "The automobile has new tyres.";
const BILL = "The invoice of March is paid.";
const AWAY = "Anna is on vacation until Monday.";

type SearchAnswer = {
  readonly items: readonly { id: string; content: string; match: string; rank: number }[];
  readonly semantic: boolean;
};

/** The memory's routes over a library that is embedded, and a key of its team. */
async function startSearch(context: Ending, store: Store) {
  const upstream = await startEmbeddingUpstream(context);
  const library = await startEmbeddedLibrary(context, store, { upstream });
  await library.declare();
  for (const content of [CAR, BILL, AWAY]) await library.save(content);
  await library.embedded();
  const { embedder, home, draft } = library;
  const questions = createQuestionEmbedder(embedder.embed, () => performance.now());
  const server = await startHarness({
    store,
    mounts: [
      { at: "", routes: (app, deps) => memoryRoutes(app, deps, questions) },
      { at: "", routes: (app, deps) => mcpRoutes(app, deps, questions) },
    ],
  });
  context.onTestFinished(() => server.close());
  const key = server.addKey({ teamId: home.teamId, namespace: home.namespace });
  return {
    ...{ upstream, library, server, key },
    async search(query: string, by = key): Promise<SearchAnswer> {
      const url = `${server.url}/atoms/search?q=${encodeURIComponent(query)}`;
      const answer = await fetch(url, { headers: { "x-api-key": by } });
      expect(answer.status).toBe(200);
      return answer.json() as Promise<SearchAnswer>;
    },
    async call(tool: string, query: string): Promise<SearchAnswer> {
      const { structured } = await callTool(server, key, tool, { query, library: draft.library.name });
      return structured;
    },
  };
}

describeOnEachEngineWithVectors("A search of a library that is embedded", (store) => {
  /** Of the tests that change no atom; the last of them ends its embedding. */
  let shared: Awaited<ReturnType<typeof startSearch>>;
  const ends: (() => void | Promise<void>)[] = [];
  beforeAll(async () => {
    shared = await startSearch({ onTestFinished: (end) => void ends.push(end) }, store());
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  test("finds what means the same in other words, over REST and MCP, and says by what", async () => {
    const { search, call } = shared;
    const found = await search("car");
    expect(found.semantic).toBe(true);
    expect(found.items[0]).toMatchObject({ content: CAR, match: "meaning" });
    expect((await search("invoice")).items[0]).toMatchObject({ content: BILL, match: "words" });
    for (const tool of ["memory_search", "memory_recall"]) {
      const { items, semantic } = await call(tool, "urlaub");
      expect(semantic).toBe(true);
      expect(items[0]).toMatchObject(tool === "memory_search" ? { snippet: AWAY } : { content: AWAY });
    }
  });

  test("finds a long atom by the meaning of a sentence at its end, once, until it is corrected", async (context) => {
    const { search, library, upstream } = await startSearch(context, store());
    upstream.answerWith(answerConcepts);
    const said = (_: unknown, day: number) => `Nothing of note was said on day ${day}, and the meeting went on.\n`;
    const filler = Array.from({ length: 240 }, said).join("");
    const long = await library.save(`${filler}${CAR}`);
    const newer = await library.save("Lunch is at noon.");
    await library.declare({ model: "concepts" });
    await library.embedded();
    const found = (await search("vehicle")).items;
    const [shortest] = found.filter(({ content }) => content === CAR);
    expect(found.slice(0, 2).map(({ id }) => id)).toEqual(expect.arrayContaining([long, shortest?.id]));
    const hits = found.filter(({ id }) => id === long);
    expect(hits).toEqual([expect.objectContaining({ snippet: expect.stringMatching(/ on day 2[123]\d, /) })]);
    await correctAtom(store().db, library.reach, long, { expected: null, at: Date.now(), content: filler });
    await library.embedded();
    const left = (await search("vehicle")).items;
    expect(left[0]?.id).toBe(shortest?.id);
    const rankOf = (id: string) => left.find((atom) => atom.id === id)?.rank;
    expect(rankOf(long)).toBe(rankOf(newer));
  });

  test("b58: finds no atom that its key does not reach, nor one of another team, and sends its question to no other gateway", async (context) => {
    const { search, server, upstream, library } = shared;
    const other = await startSearch(context, store());
    const { home } = library;
    const narrow = server.addKey({ teamId: home.teamId, namespace: home.namespace, libraryIds: [] });
    expect(await search("car", narrow)).toEqual({ items: [], nextCursor: null, semantic: false });
    const asked = upstream.received.length;
    expect((await other.search("car")).items).toHaveLength(3);
    expect(upstream.received).toHaveLength(asked);
    expect((await search("car")).items).toHaveLength(3);
  });

  test("finds an atom that was corrected by what it says now, and none by what it said", async (context) => {
    const { search, library, upstream } = await startSearch(context, store());
    const { items } = await search("car");
    upstream.answerWith((response, received) => {
      if (textsOf(received).includes("It is sold.")) response.writeHead(500).end();
      else answerVectors(response, received);
    });
    const patch = { expected: null, at: Date.now(), content: "It is sold." };
    await correctAtom(store().db, library.reach, items[0]?.id ?? "", patch);
    expect((await search("car")).items.map(({ content }) => content)).not.toContain("It is sold.");
    upstream.answerWith(answerVectors);
    await library.hurry();
    await library.embedded();
    expect((await search("car")).items.map(({ content }) => content)).toContain("It is sold.");
  });

  test("goes by words alone, and says so, where it asks for words, or the question cannot be embedded", async () => {
    const { search, upstream, library } = shared;
    const asked = upstream.received.length;
    for (const query of ['"new tyres"', "tyres -march", "tyres or march"]) {
      const { items, semantic } = await search(query);
      expect([query, semantic, items[0]?.match]).toEqual([query, false, "words"]);
    }
    expect(upstream.received).toHaveLength(asked);
    upstream.answerWith((response) => response.writeHead(500).end());
    expect(await search("tyres")).toMatchObject({ semantic: false, items: [{ content: CAR }] });
    // Never answers: a search waits for a second.
    upstream.answerWith(() => {});
    expect(await search("paid")).toMatchObject({ semantic: false, items: [{ content: BILL }] });
    upstream.answerWith(answerVectors);
    expect((await search("paid")).semantic).toBe(true);
    const { keyId = "" } = (await library.progress()) ?? {};
    await run(store(), (tx) => revokeKey(tx, keyId, "ByHand"));
    await library.caughtUp();
    expect((await search("monday")).semantic).toBe(false);
    expect(upstream.received.flatMap(textsOf)).not.toContain("monday");
  });
});
