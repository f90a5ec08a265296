import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { sql } from "kysely";
import type { TestContext } from "vitest";
import type { Dialect, RouteRecord } from "../../../domain/access/key-record.ts";
import { keyDigest, keyPrefix, mintKey } from "../../../domain/key/secret/key-format.ts";
import { startLibraryExtractor } from "../../../memory/extraction/library-extractor.ts";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../../memory/rest/routes.ts";
import { listAtoms } from "../../../memory/store/lists/atom-list.ts";
import type { Atom } from "../../../memory/store/rows/atom.ts";
import { insertAtom } from "../../../memory/store/writes/atom-writes.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { createLog } from "../../../runtime/log.ts";
import { parseServerConfig } from "../../../server/context/config.ts";
import { createTextGenerator, type TextGenerator } from "../../../server/gateway/library/generate-text.ts";
import type { Store } from "../../../store/database/store.ts";
import { saveGateway } from "../../../store/gateways/gateways.ts";
import { saveLibrary } from "../../../store/libraries/libraries.ts";
import { declareExtraction, type ExtractionDraft } from "../../../store/libraries/library-extraction.ts";
import { until } from "../../env/until.ts";
import { budgetsOn, ledgerThatIsAway } from "../../server/budgets/ledger.ts";
import { PROVIDER_KEY } from "../../server/gateway/gateway.ts";
import { type Received, startUpstream } from "../../server/gateway/upstream.ts";
import { type Harness, startHarness } from "../../server/harness.ts";
import { keyring, startReplica } from "../../server/key-index/replica-fixtures.ts";
import { gatewayDraft, libraryDraft, makeTeam, run } from "../../store/fixtures.ts";
import { feedHead } from "../../store/questions.ts";
import { PLAIN } from "../store/plain-atom.ts";

/** Answers in the dialect of the path. */
export function answerText(response: ServerResponse, { url }: Received, text: string): void {
  const answer = url.includes(":generateContent")
    ? { candidates: [{ content: { parts: [{ text }] } }] }
    : url.endsWith("/messages")
      ? { content: [{ type: "text", text }] }
      : { choices: [{ message: { role: "assistant", content: text } }] };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(answer));
}

/** An answer of a model that finds these. */
export function found(...contents: string[]): string {
  return JSON.stringify({ statements: contents.map((content) => ({ content })) });
}

const MOUNTS = [
  { at: "", routes: memoryRoutes },
  { at: "/api/v1/memory", routes: memoryRoutes },
  { at: "", routes: mcpRoutes },
] as const;

/** Each look for work is a question to the database. */
const POLL_MS = 50;

type Options = {
  readonly dialect?: Dialect;
  readonly routes?: readonly RouteRecord[];
  readonly declared?: Partial<ExtractionDraft>;
  /** Servers that take turns. */
  readonly workers?: number;
  /** Another upstream than one that answers as the test says. */
  readonly baseUrl?: string;
  /** How many times shorter the model's time limits are. */
  readonly speedUp?: number;
  /** A server that several libraries share; else one of its own. */
  readonly beside?: Harness;
};

/** A server that libraries which take conversations share. The caller closes it. */
export const openExtractionServer = (store: Store): Promise<Harness> => startHarness({ store, mounts: MOUNTS });

/** A library that takes atoms out of conversations, the memory's routes over it, and the part of a server that does it. */
export async function startExtractingLibrary(
  context: TestContext,
  store: Store,
  { dialect = "openai", routes = [], declared = {}, workers = 1, baseUrl, speedUp = 1, beside }: Options = {},
) {
  const upstream = await startUpstream((response, received) => answerText(response, received, found()));
  context.onTestFinished(() => upstream.close());
  const home = await makeTeam(store);
  const upstreams = [{ name: "reader", dialect, baseUrl: baseUrl ?? upstream.url, credential: PROVIDER_KEY }];
  const gateway = gatewayDraft(home, { upstreams, routes });
  const { gatewayId } = await run(store, (tx) => saveGateway(tx, gateway, keyring));
  const library = libraryDraft(home);
  const { libraryId } = await run(store, (tx) => saveLibrary(tx, library));
  const draft = {
    library: { ...home, id: libraryId, name: library.name },
    ...{ gatewayId, model: "stub-model", tokensPerDay: 1_000_000, generation: 1 },
    mint() {
      const plaintext = mintKey(randomBytes);
      return { digest: keyDigest(plaintext), prefix: keyPrefix(plaintext) };
    },
    ...declared,
  };
  const { replica, view, streams } = startReplica(store);
  context.onTestFinished(() => replica.close());
  const lines: string[] = [];
  const log = createLog("debug", { write: (line) => lines.push(line) });
  const through = createTextGenerator({
    ...{
      store,
      streams,
      log,
      index: view,
      clock: systemClock,
      installationLimits: null,
      budgets: budgetsOn(ledgerThatIsAway(), systemClock),
    },
    usage: { record: () => {}, noteLibrary: () => {}, countRequest: () => {}, countAnswer: () => {} },
    config: parseServerConfig({}, { allowPrivateUpstreams: "127.0.0.0/8" }),
  });
  const generator: TextGenerator = {
    ...through,
    generate: (request) => through.generate({ ...request, timeoutMs: request.timeoutMs / speedUp }),
  };
  const counted: string[] = [];
  const count = (outcome: string) => counted.push(outcome);
  const running = Array.from({ length: workers }, () =>
    startLibraryExtractor({ store, generator, log, count }, POLL_MS),
  );
  context.onTestFinished(async () => {
    await generator.close();
    for (const each of running) await each.close();
  });
  const server = beside ?? (await openExtractionServer(store));
  if (beside === undefined) context.onTestFinished(() => server.close());
  const key = server.addKey({ teamId: home.teamId, namespace: home.namespace });
  const reach = { teamId: home.teamId, libraryIds: null };

  const extracting = {
    ...{ home, reach, libraryId, draft, upstream, server, key, lines, counted },
    async declare(changed: Partial<ExtractionDraft> = {}): Promise<void> {
      await run(store, (tx) => declareExtraction(tx, { ...draft, ...changed }));
      await extracting.caughtUp();
    },
    async caughtUp(): Promise<void> {
      const head = await feedHead(store);
      await until("the replica has caught up", () => view.isCurrent() && view.lastSeq() >= head);
    },
    async keyId(): Promise<string> {
      const { rows } = await sql<{ key_id: string }>`select key_id from library_extractions
        where library_id = ${libraryId}`.execute(store.db);
      return rows[0]?.key_id ?? "";
    },
    async call(method: string, path: string, body?: unknown, as = key) {
      const response = await fetch(server.url + path, {
        method,
        headers: { "x-api-key": as, ...(body !== undefined && { "content-type": "application/json" }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: response.status, headers: response.headers, json: JSON.parse(await response.text()) };
    },
    /** Hands over what a person says, and answers with what was answered. */
    handOver: (content: string, as = key) =>
      extracting.call("POST", "/atoms/extract", { library: library.name, messages: [{ role: "user", content }] }, as),
    job: async (id: string, as = key) => (await extracting.call("GET", `/atoms/extract/${id}`, undefined, as)).json,
    /** The job when it is over. */
    async ended(id: string, as = key) {
      await until("the job is over", async () => {
        const { rows } = await sql`select from extraction_jobs where id = ${id}::uuid and ended_at is not null`.execute(
          store.db,
        );
        return rows.length > 0;
      });
      return extracting.job(id, as);
    },
    /** Tokens that count for the present day. */
    async usedTokens(): Promise<number> {
      const { rows } = await sql<{ used: number }>`select used_tokens::float8 as used from library_extractions
        where library_id = ${libraryId}`.execute(store.db);
      return rows[0]?.used ?? 0;
    },
    async save(content: string): Promise<void> {
      await insertAtom(store.db, reach, { ...PLAIN, libraryId, content, at: Date.now() });
    },
    async atoms(): Promise<readonly Atom[]> {
      return (await listAtoms(store.db, reach, { libraryId, after: null, limit: 100 })).items;
    },
    async contents(): Promise<string[]> {
      return (await extracting.atoms()).map(({ content }) => content).toSorted();
    },
    /** Has what waits until later tried now. */
    async hurry(): Promise<void> {
      // The library first: behind its job, a turn that has begun in between would have another one beside it.
      await sql`update library_extractions set due_at = now() where library_id = ${libraryId}`.execute(store.db);
      await sql`update extraction_jobs set due_at = now() where library_id = ${libraryId}`.execute(store.db);
    },
  };
  return extracting;
}
