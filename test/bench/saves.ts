import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import { type Installation, openUp } from "../chaos/hostile/installation.ts";
import { GATEWAYS, LIBRARY } from "../chaos/hostile/tenants.ts";
import { figure, quantile, table } from "./table.ts";

const CLIENTS = 50;
/** Of each client, one after the other. */
const SAVES = 10;
const SIZES = [500, 60_000];
/** From one look-up of the gateway's to the next, in milliseconds. */
const LOOKUP_MS = 20;
/** Asked by nothing here. */
const NOWHERE = "http://127.0.0.1:1";

type Protocol = "REST" | "MCP";
type SaveOutcome = { readonly outcome: "saved" | "busy" | "other"; readonly ms: number };

/** Lets fifty clients of one team save at once with `keyplane up`, each with a key of its own. */
export async function benchSaves(): Promise<string> {
  const rows: string[][] = [];
  for (const bytes of SIZES) {
    for (const protocol of ["REST", "MCP"] as const) rows.push(await measureSaves(protocol, bytes));
  }
  return table([`${CLIENTS} clients, ${SAVES} saves each`, ...HEADS], rows);
}

const HEADS = ["saved", "busy", "others", "all in s", "p50 ms", "p99", "gateway p99 ms, alone", "beside"];

async function measureSaves(protocol: Protocol, bytes: number): Promise<string[]> {
  const installation = await openUp({ hostileUpstream: NOWHERE, ownUpstream: NOWHERE, atoms: 0 });
  const dispatcher = new Agent({ connections: 2 * CLIENTS });
  try {
    const keys: string[] = [];
    while (keys.length < CLIENTS) keys.push((await installation.makeKey("hostile")).plaintext);
    const alone = await lookUp(installation, keys[0] ?? "", delay(2_000), dispatcher);
    const began = performance.now();
    const answers: SaveOutcome[] = [];
    const client = async (key: string) => {
      for (let n = 0; n < SAVES; n++) answers.push(await save(installation, { protocol, key, bytes }, dispatcher));
    };
    const saving = Promise.all(keys.map(client));
    const beside = await lookUp(installation, keys[0] ?? "", saving, dispatcher);
    const seconds = (performance.now() - began) / 1_000;
    const count = (outcome: SaveOutcome["outcome"]) =>
      figure(answers.filter((answer) => answer.outcome === outcome).length);
    const times = answers.map(({ ms }) => ms);
    return [
      `${protocol}, ${figure(bytes)} bytes`,
      ...[count("saved"), count("busy"), count("other"), figure(seconds, 1)],
      ...[quantile(times, 0.5), quantile(times, 0.99)].map((ms) => figure(ms)),
      ...[alone, beside].map((ms) => figure(quantile(ms, 0.99), 1)),
    ];
  } finally {
    await dispatcher.close();
    await installation.close();
  }
}

/** What the gateway's answers take that it gives by itself, in milliseconds, until something is done. */
async function lookUp(
  { replicas }: Installation,
  key: string,
  until: Promise<unknown>,
  dispatcher: Agent,
): Promise<number[]> {
  let isDone = false;
  const done = until.finally(() => {
    isDone = true;
  });
  const times: number[] = [];
  while (!isDone) {
    const began = performance.now();
    const { body } = await request(`${replicas[0]?.url}/g/${GATEWAYS.hostile.plain}/v1/models`, {
      ...{ dispatcher, headers: { authorization: `Bearer ${key}` } },
    });
    await body.dump();
    times.push(performance.now() - began);
    await delay(LOOKUP_MS);
  }
  await done;
  return times;
}

type Save = { readonly protocol: Protocol; readonly key: string; readonly bytes: number };

async function save(
  { replicas }: Installation,
  { protocol, key, bytes }: Save,
  dispatcher: Agent,
): Promise<SaveOutcome> {
  const atom = { content: textOf(bytes), library: `hostile/${LIBRARY}` };
  const params = { name: "memory_save_atom", arguments: atom };
  const [path, sent] =
    protocol === "REST"
      ? ["/atoms", atom]
      : ["/api/v1/memory/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params }];
  const began = performance.now();
  const { statusCode, body } = await request(`${replicas[0]?.url}${path}`, {
    dispatcher,
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify(sent),
  });
  const text = await body.text();
  const isSaved = statusCode === 201 || (statusCode === 200 && text.includes("Saved."));
  const isBusy = /has more to do than it can|too many calls of the memory/.test(text);
  return { outcome: isSaved ? "saved" : isBusy ? "busy" : "other", ms: performance.now() - began };
}

/** Words that no other text has. */
function textOf(bytes: number): string {
  const words = Array.from({ length: bytes / 7 + 1 }, () => Math.random().toString(36).slice(2, 8));
  return words.join(" ").slice(0, bytes);
}
