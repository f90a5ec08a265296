import { Worker } from "node:worker_threads";
import { sql } from "kysely";
import { mcpRoutes } from "../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import type { Store } from "../../store/database/store.ts";
import { addTeamsWithLibraries } from "../memory/libraries.ts";
import { FOUND_BY, fillWithWorstAtoms } from "../memory/worst-atoms.ts";
import { startHarness } from "../server/harness.ts";
import { onPGlite } from "./questions.ts";
import { figure, median, table } from "./table.ts";

const WARM_UP = 5;
const ROUNDS = 10;
const ATOMS = 100;
/** Enough for the system's clock of a thread, which has steps of milliseconds. */
const ENCODINGS = 100;

/** Atoms whose page takes the most work, each in another way. */
const SHAPES: Readonly<Record<string, (store: Store) => Promise<unknown>>> = {
  "long, of control characters": (store) => fillWithWorstAtoms(store, Array(ATOMS).fill(20_000)),
  "short, of tags, metadata and links": (store) => fillWithWorstAtoms(store, Array(ATOMS).fill(5)),
  "long, of ASCII": (store) => fill(store, "x".repeat(65_000), "x"),
  "long, of quotes": (store) => fill(store, '"\\'.repeat(5_000), '"'),
  "long, of Chinese": (store) => fill(store, "密".repeat(9_000), "密"),
};

/** A tool, or a path of REST. */
const CALLS: Readonly<Record<string, object>> = {
  "GET /atoms": {},
  [`GET /atoms/search?q=${FOUND_BY}`]: {},
  memory_list: { limit: ATOMS, maxTokens: 20_000 },
  memory_search: { limit: ATOMS, query: FOUND_BY, maxTokens: 20_000 },
  memory_recall: { limit: ATOMS, query: FOUND_BY, maxTokens: 20_000 },
  memory_wake_up: { limit: ATOMS, maxTokens: 20_000 },
};

/** What a page of the memory takes of the thread that decides, in the longest of its turns (threats b111). */
export async function benchPages(): Promise<string> {
  const rows = await onPGlite(measureAll);
  const columns = ["bytes", "longest turn, CPU ms, median", "most", "times its JSON"];
  return table(["a page of the memory", ...columns], rows);
}

async function measureAll(store: Store): Promise<string[][]> {
  await migrate(store);
  await addTeamsWithLibraries(store);
  const server = await startHarness({ mounts: [memoryRoutes, mcpRoutes].map((routes) => ({ at: "", routes })), store });
  const client = new Client(server.url, server.addKey({ teamDefaultLibraryId: "lib-diary" }));
  const iterations = new LoopIterations();
  const rows: string[][] = [];
  for (const [shape, fillStore] of Object.entries(SHAPES)) {
    await sql`delete from atoms`.execute(store.db);
    await fillStore(store);
    for (const [call, args] of Object.entries(CALLS)) {
      const took: number[] = [];
      let answer = "";
      for (let round = 0; round < WARM_UP + ROUNDS; round++) {
        iterations.begin();
        answer = await client.ask(call, args);
        if (round >= WARM_UP) took.push(iterations.longest);
      }
      const encoding = encodingOf(answer);
      const ms = [median(took), Math.max(...took)].map((each) => figure(each, 1));
      rows.push([`${shape}: ${call}`, figure(Buffer.byteLength(answer)), ...ms, figure(median(took) / encoding, 1)]);
    }
  }
  iterations.end();
  await client.close();
  await server.close();
  return rows;
}

async function fill({ db }: Store, content: string, letter: string): Promise<void> {
  await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
    select 'lib-diary', 'team-a', ${`${FOUND_BY} ${content}`},
      array(select repeat(${letter}, 60) || tag from generate_series(1, 32) tag), 5, to_timestamp(n), to_timestamp(n)
    from generate_series(1, ${ATOMS}::integer) n`.execute(db);
}

/** CPU milliseconds that an answer's JSON takes to be made once, in the same run. */
function encodingOf(answer: string): number {
  const value: unknown = JSON.parse(/^data: (.*)$/m.exec(answer)?.[1] ?? answer);
  const from = cpuMs();
  for (let round = 0; round < ENCODINGS; round++) Buffer.byteLength(JSON.stringify(value));
  return (cpuMs() - from) / ENCODINGS;
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** Measures the turns of this thread's event loop. */
class LoopIterations {
  longest = 0;
  #last = cpuMs();
  #next = setImmediate(() => this.#iteration());

  begin(): void {
    this.longest = 0;
    this.#last = cpuMs();
  }

  end(): void {
    clearImmediate(this.#next);
  }

  #iteration(): void {
    const now = cpuMs();
    this.longest = Math.max(this.longest, now - this.#last);
    this.#last = now;
    this.#next = setImmediate(() => this.#iteration());
  }
}

/** Asks from another thread, so that nothing of the client is in the server's turns but the text as it comes. */
class Client {
  readonly #thread: Worker;

  constructor(url: string, key: string) {
    this.#thread = new Worker(new URL("./pages-client.ts", import.meta.url), { workerData: { url, key } });
  }

  async ask(call: string, args: object): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#thread.once("message", resolve);
    this.#thread.postMessage({ call, args });
    return promise;
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}
