import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { keyPrefix, mintKey } from "../../domain/key/secret/key-format.ts";
import { openPGlite } from "../../store/database/pglite/pglite.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import type { Store } from "../../store/database/store.ts";
import { freePort } from "../env/free-port.ts";
import { signIn } from "../server/auth/session/sign-in.ts";
import { fillEmbedded, KEYPLANE_COMMAND, startDatabase } from "./contestants.ts";
import { upstreamConfig, writeNginx } from "./nginx.ts";
import { type Contestant, cpuMicroseconds, findProgram, Processes } from "./processes.ts";
import { figure, median, quantile, table } from "./table.ts";
import { type Load, type LoadGenerator, load, PATH, PUBLIC_ID, writeWrkScript } from "./traffic.ts";

const KEYS = Number(process.env.KEYPLANE_BENCH_GATEWAY_KEYS ?? 100_000);
const WARM_UP_SECONDS = 4;
const PAIRS = 8;
const SECONDS = 4;
/** Of one list, at rest and under load each. */
const PAGES = 120;
/** Between two pages that a user opens beside the gateway's load: more than a dozen people ask for. */
const PAGE_EVERY_MS = 500;
const ISSUER = "https://issuer.invalid";
const OIDC_FLAGS = ["--oidc-issuer", ISSUER, "--oidc-audience", "bench", "--oidc-admin-groups", "admins"];

/** Measures the console's list of keys beside the gateway's load, on PostgreSQL and on the embedded database. */
export async function benchConsole(): Promise<string> {
  const [nginx, wrk] = [findProgram("nginx"), findProgram("wrk")];
  if (nginx === undefined || wrk === undefined) {
    return "The console was not measured: it takes nginx and wrk (Debian: apt-get install nginx-light wrk).";
  }
  const tables: string[] = [];
  for (const form of [SERVER, UP]) {
    const folder = await mkdtemp(join(tmpdir(), "keyplane-bench-"));
    const processes = new Processes();
    const keys = Array.from({ length: KEYS }, () => mintKey(randomBytes));
    let world: World | undefined;
    try {
      const port = await freePort();
      await processes.start({
        ...{ name: "upstream", command: nginx, port },
        args: await writeNginx(folder, "upstream", upstreamConfig(port)),
      });
      world = await form.open({ processes, folder, keys, upstreamUrls: { [PUBLIC_ID]: `http://127.0.0.1:${port}` } });
      const usable = keys.filter((_, i) => !/(77|33)$/.test(benchKeyName(i)));
      const calls = { wrk, script: await writeWrkScript(folder, "call", { path: PATH, keys: usable }) };
      tables.push(await measure(form.title, world, calls, keyPrefix(keys[KEYS >> 1] ?? "")));
    } finally {
      await processes.stop();
      await world?.close();
      await rm(folder, { recursive: true });
    }
  }
  return tables.join("\n\n");
}

type World = {
  readonly keyplane: Contestant;
  /** Of a user who sees every team. */
  readonly cookie: string;
  close(): Promise<void>;
};

type Opening = {
  readonly processes: Processes;
  readonly folder: string;
  readonly keys: readonly string[];
  readonly upstreamUrls: Readonly<Record<string, string>>;
};

type Form = { readonly title: string; open(opening: Opening): Promise<World> };

const SERVER: Form = {
  title: `keyplane server, ${figure(KEYS)} keys on PostgreSQL`,
  async open({ processes, keys, upstreamUrls }) {
    const database = await startDatabase(keys, upstreamUrls);
    const store = await openPostgres(database.env.KEYPLANE_DATABASE_URL ?? "", { answerTimeoutMs: 0 });
    const { cookie } = await prepare(store);
    await store.close();
    const keyplane = await startKeyplane(processes, database.env, "server");
    return { keyplane, cookie, close: () => database.close() };
  },
};

const UP: Form = {
  title: `keyplane up, ${figure(KEYS)} keys in the embedded database`,
  async open({ processes, folder, keys, upstreamUrls }) {
    const embedded = await fillEmbedded(folder, keys, upstreamUrls);
    const store = await openPGlite(join(folder, "data", "db"));
    const { cookie } = await prepare(store);
    await store.close();
    const keyplane = await startKeyplane(processes, embedded.env, "up", ...embedded.flags);
    return { keyplane, cookie, close: async () => {} };
  },
};

/** What `fillStore` calls the key of a plaintext, by its place: the first of them has a name of another kind. */
function benchKeyName(place: number): string {
  return place === 0 ? "" : `bench${place - 1}`;
}

/** Suspends some keys, has some end, and signs a user in. */
async function prepare(store: Store): Promise<{ cookie: string }> {
  await store.db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql`update keys set state = 'suspended' where name like 'bench%77'`.execute(tx);
    await sql`update keys set expires_at = now(), ends_at = now() where name like 'bench%33'`.execute(tx);
  });
  return signIn(store, { person: { issuer: ISSUER, subject: "bench", groups: ["admins"] } });
}

async function startKeyplane(
  processes: Processes,
  env: Readonly<Record<string, string>>,
  ...command: readonly string[]
): Promise<Contestant> {
  const port = await freePort();
  const flags = ["--port", String(port), "--admin-port", "0", "--allow-private-upstreams", "127.0.0.0/8"];
  const args = [KEYPLANE_COMMAND, ...command, ...flags, ...OIDC_FLAGS];
  return processes.start({ name: "keyplane", command: process.execPath, args, port, env });
}

/** Lists as people ask for them. */
const listsOf = (prefix: string): Readonly<Record<string, string>> => ({
  "the first page": "",
  "used last": "?order=used-last",
  "ends soonest": "?order=ends-soonest",
  "a part of the name": "?q=ench4711",
  "a name that none has": "?q=nothing-like-it",
  suspended: "?state=suspended",
  expired: "?state=expired",
  revoked: "?state=revoked",
  "a prefix, which leads to its key": `?q=${prefix}`,
});

async function measure(
  title: string,
  { keyplane, cookie }: World,
  calls: LoadGenerator,
  prefix: string,
): Promise<string> {
  const look = pageReader(keyplane.port, cookie);
  const lists = Object.entries(listsOf(prefix));
  await load(calls, keyplane.port, WARM_UP_SECONDS);
  for (const [, list] of lists) for (let i = 0; i < 5; i++) await look(list);
  const rest = new Map<string, PagesAtRest>();
  for (const [name, list] of lists) {
    const before = cpuMicroseconds(keyplane.pid);
    const times = await alternately(look, list);
    rest.set(name, { times, cpuMs: (cpuMicroseconds(keyplane.pid) - before) / 1_000 / PAGES });
  }
  const loaded = new Map<string, number[]>();
  for (const [name, list] of lists) {
    let isOver = false;
    // Goes on for as long as the pages take.
    const loading = (async () => {
      while (!isOver) await load(calls, keyplane.port, 1);
    })();
    loaded.set(name, await alternately(look, list));
    isOver = true;
    await loading;
  }
  const pairs = await measurePairs(keyplane, calls, look, Object.values(listsOf(prefix)));
  return [latencyTable(title, rest, loaded), pairTable(pairs)].join("\n\n");
}

/** Asks for a list, and gives the milliseconds until all of it is there. */
function pageReader(port: number, cookie: string): (list: string) => Promise<number> {
  return async (list) => {
    const begin = performance.now();
    const page = await fetch(`http://127.0.0.1:${port}/dashboard/keys${list}`, {
      headers: { cookie },
      redirect: "manual",
    });
    const text = await page.text();
    const took = performance.now() - begin;
    if (page.status !== 200 && page.status !== 303) throw new Error(`the list ${list}: ${page.status} ${text}`);
    return took;
  };
}

async function alternately(look: (list: string) => Promise<number>, list: string): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < PAGES; i++) times.push(await look(list));
  return times;
}

type Run = Load & { readonly cpu: number };

/** Runs of the gateway's load by itself, and beside a user who opens lists: one of each in turn. */
async function measurePairs(
  keyplane: Contestant,
  calls: LoadGenerator,
  look: (list: string) => Promise<number>,
  lists: readonly string[],
): Promise<{ alone: Run; beside: Run }[]> {
  const run = async (): Promise<Run> => {
    const before = cpuMicroseconds(keyplane.pid);
    const done = await load(calls, keyplane.port, SECONDS);
    return { ...done, cpu: (cpuMicroseconds(keyplane.pid) - before) / done.requests };
  };
  const runBeside = async (): Promise<Run> => {
    let isOver = false;
    const looking = (async () => {
      for (let i = 0; !isOver; i++) {
        await look(lists[i % lists.length] ?? "");
        await delay(PAGE_EVERY_MS);
      }
    })();
    const done = await run();
    isOver = true;
    await looking;
    return done;
  };
  const pairs: { alone: Run; beside: Run }[] = [];
  for (let i = 0; i < PAIRS; i++) {
    // Whichever comes second meets what the first has left, so each does.
    if (i % 2 === 0) {
      const alone = await run();
      pairs.push({ alone, beside: await runBeside() });
    } else {
      const beside = await runBeside();
      pairs.push({ alone: await run(), beside });
    }
  }
  return pairs;
}

/** Milliseconds of each page, and of the server's CPU for one. */
type PagesAtRest = { readonly times: readonly number[]; readonly cpuMs: number };

function latencyTable(
  title: string,
  rest: ReadonlyMap<string, PagesAtRest>,
  loaded: ReadonlyMap<string, readonly number[]>,
): string {
  const row = (name: string, { cpuMs, times }: PagesAtRest, under: readonly number[]): string[] => [
    name,
    figure(cpuMs, 1),
    ...[times, under].flatMap((each) => [figure(quantile(each, 0.5), 1), figure(quantile(each, 0.99), 1)]),
  ];
  const rows = [...rest].map(([name, pages]) => row(name, pages, loaded.get(name) ?? []));
  const pages = [...rest.values()];
  const every = {
    times: pages.flatMap(({ times }) => times),
    cpuMs: pages.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / pages.length,
  };
  const all = row("all of them", every, [...loaded.values()].flat());
  return table([title, "CPU ms", "at rest, ms, p50", "p99", "beside the gateway's load, p50", "p99"], [...rows, all]);
}

function pairTable(pairs: readonly { readonly alone: Run; readonly beside: Run }[]): string {
  const measures = {
    "CPU us/request": ({ cpu }: Run) => cpu,
    "requests/s": ({ perSecond }: Run) => perSecond,
    "p50, ms": ({ p50 }: Run) => p50,
    "p99, ms": ({ p99 }: Run) => p99,
  };
  const rows = Object.entries(measures).map(([name, of]) => {
    const ratios = pairs.map(({ alone, beside }) => of(beside) / of(alone));
    const [one, other] = [median(pairs.map(({ alone }) => of(alone))), median(pairs.map(({ beside }) => of(beside)))];
    const spread = `${figure(Math.min(...ratios), 3)} to ${figure(Math.max(...ratios), 3)}`;
    return [name, figure(one, 2), figure(other, 2), figure(median(ratios), 3), spread];
  });
  const columns = ["by itself", `a list every ${PAGE_EVERY_MS} ms`, "ratio of a pair, median", "least to greatest"];
  return table([`the gateway's load, ${PAIRS} pairs`, ...columns], rows);
}
