/**
 * The hostile tenant, as a process of its own: its upstream, and its callers. Forked by `attacker.ts`, which sends it
 * whom to attack; it says where its upstream listens, and at its end what came of each attack.
 */
import { createServer } from "node:http";
import { ATTACKS, attack } from "./attacks.ts";
import { ENDLESS_ANSWER, type HostileKeys } from "./victim.ts";

export type Orders = {
  readonly urls: readonly string[];
  readonly keys: HostileKeys;
  readonly without: readonly string[];
};
/** Of each attack: how often which outcome came. */
export type Outcomes = readonly (readonly [what: string, outcomes: Readonly<Record<string, number>>])[];
export type FromAttacker = { readonly upstream: string } | { readonly outcomes: Outcomes };

const ANSWER_AFTER_MS = 50;
const EVENT = `data: ${"x".repeat(16_384)}\n\n`;

const upstream = createServer((request, response) => {
  request.on("error", () => {});
  response.on("error", () => {});
  request.resume();
  if (request.headers[ENDLESS_ANSWER] !== undefined) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const write = () => {
      if (response.write(EVENT)) setTimeout(write, 5);
      else response.once("drain", write);
    };
    write();
    return;
  }
  request.on("end", () => setTimeout(() => response.end("{}"), ANSWER_AFTER_MS));
});

const over = new AbortController();
process.on("message", async (message: Orders | "stop") => {
  if (message === "stop") return over.abort();
  const outcomes: [string, Record<string, number>][] = [];
  const attacks = ATTACKS.filter(({ what }) => !message.without.includes(what)).flatMap((one) => {
    const counts: Record<string, number> = {};
    outcomes.push([one.what, counts]);
    const count = (outcome: number | string) => {
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    };
    return message.urls.map((url) => attack(one, { url, keys: message.keys, signal: over.signal, count }));
  });
  await Promise.all(attacks);
  post({ outcomes });
  process.disconnect?.();
  upstream.closeAllConnections();
  upstream.close();
});
upstream.listen(0, "127.0.0.1", () => {
  const address = upstream.address();
  if (typeof address === "object" && address !== null) post({ upstream: `http://127.0.0.1:${address.port}` });
});

function post(message: FromAttacker): void {
  process.send?.(message);
}
