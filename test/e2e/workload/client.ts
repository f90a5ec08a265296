/**
 * What the pods run: calls the server many times a second with the key that it has, and prints how it was answered. Of
 * a key it prints the first 12 characters, which authenticate nothing. It stands alone: a ConfigMap carries it.
 */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Answers of one status to one key; the times are those at which the calls began, in milliseconds since 1970. */
export type Tally = { readonly prefix: string; readonly status: number; count: number; first: number; last: number };

/** Between two calls, and between two printed lines, in milliseconds. */
const PAUSE_MS = 20;
const PRINT_EVERY_MS = 250;
/** That a call may take, in milliseconds. */
const MAX_WAIT_MS = 10_000;

const { SERVERS = "", KEY, KEY_FILE = "" } = process.env;
const servers = SERVERS.split(",");
const tallies = new Map<string, Tally>();
let stopping = false;
process.on("SIGTERM", () => {
  stopping = true;
});

/** The answer's status; 0 where none came. */
async function call(server: string | undefined, key: string): Promise<number> {
  try {
    const answer = await fetch(`${server}/atoms?limit=1`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(MAX_WAIT_MS),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

/** Counts an answer; whether it is the first of its kind. */
function count(key: string, status: number, at: number): boolean {
  const prefix = key.slice(0, 12);
  const tally = tallies.get(`${prefix} ${status}`);
  if (tally === undefined) {
    tallies.set(`${prefix} ${status}`, { prefix, status, count: 1, first: at, last: at });
    return true;
  }
  tally.count++;
  tally.last = at;
  return false;
}

let printed = 0;
for (let turn = 0; !stopping; turn++) {
  const key = KEY ?? readFileSync(KEY_FILE, "utf8");
  const at = Date.now();
  const isNew = count(key, await call(servers[turn % servers.length], key), at);
  if (isNew || at - printed > PRINT_EVERY_MS) {
    console.log(JSON.stringify([...tallies.values()]));
    printed = at;
  }
  await delay(PAUSE_MS);
}
console.log(JSON.stringify([...tallies.values()]));
