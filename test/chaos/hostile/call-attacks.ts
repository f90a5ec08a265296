/** Attacks by callers who wait for their answers. */
import { randomBytes } from "node:crypto";
import { mintKey } from "../../../domain/key/secret/key-format.ts";
import { COSTLY_BODIES } from "./costly-bodies.ts";
import { GATEWAYS, LIBRARY, SEARCH_WORDS } from "./tenants.ts";
import { JSON_BODY, MCP, MCP_TYPES, SMALL_ATOM, type Victim } from "./victim.ts";

const CALL_TIMEOUT_MS = 15_000;

const costlyCalls = new WeakMap<Victim, number>();
const costlyBytes = new Map<string, Buffer>();

export async function costlyBody(victim: Victim, n: number): Promise<void> {
  const turn = (costlyCalls.get(victim) ?? n) + 1;
  costlyCalls.set(victim, turn);
  const costly = COSTLY_BODIES[turn % COSTLY_BODIES.length];
  if (costly === undefined) return;
  const body = costlyBytes.get(costly.what) ?? costly.make();
  costlyBytes.set(costly.what, body);
  await fetchCounted(victim, `POST ${costly.path}`, {
    key: victim.keys.full,
    headers: MCP_TYPES,
    body: new Uint8Array(body),
  });
}

export async function costlySearch(victim: Victim, n: number): Promise<void> {
  const words = n % 2 === 0 ? "everywhere" : `everywhere ${SEARCH_WORDS}`;
  const path = `/atoms/search?limit=100&q=${encodeURIComponent(words)}`;
  await fetchCounted(victim, `GET ${path}`, { key: victim.keys.full });
}

export async function largeAtom(victim: Victim): Promise<void> {
  const words = Array.from({ length: 6_000 }, () => Math.random().toString(36).slice(2, 11)).join(" ");
  const body = JSON.stringify({ content: words, library: LIBRARY });
  const saved = await fetchCounted(victim, "POST /atoms", { key: victim.keys.full, headers: JSON_BODY, body });
  const id = /"id":"([^"]+)"/.exec(saved)?.[1];
  if (id !== undefined) await fetchCounted(victim, `DELETE /atoms/${id}`, { key: victim.keys.full });
}

export async function refusal(victim: Victim, n: number): Promise<void> {
  const { full, reader, revoked } = victim.keys;
  const kinds: readonly (() => Promise<unknown>)[] = [
    () => fetchCounted(victim, "GET /atoms", {}),
    () => fetchCounted(victim, "GET /atoms", { key: "inf_short" }),
    () => fetchCounted(victim, "GET /atoms", { key: mintKey(randomBytes) }),
    () => fetchCounted(victim, "GET /atoms", { key: revoked }),
    () => fetchCounted(victim, "POST /atoms", { key: reader, headers: JSON_BODY, body: SMALL_ATOM }),
    () => fetchCounted(victim, `GET /g/${GATEWAYS.others.routes}/v1/models`, { key: full }),
    () => fetchCounted(victim, "GET /atoms/nothing/of/this/name", { key: full }),
    () => fetchCounted(victim, `POST ${MCP}`, { key: full, headers: JSON_BODY, body: "{}" }),
    () => fetchCounted(victim, "POST /atoms", { key: full, headers: { "content-type": "text/plain" }, body: "x" }),
  ];
  await kinds[n % kinds.length]?.();
}

type Call = {
  readonly key?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
};

/**
 * @param what as `GET /atoms`
 * @returns the answer's text
 */
async function fetchCounted(
  { url, signal, count }: Victim,
  what: string,
  { key, headers = {}, body }: Call,
): Promise<string> {
  const [method = "", path = ""] = what.split(" ");
  const answer = await fetch(url + path, {
    method,
    headers: { ...headers, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    ...(body === undefined ? {} : { body }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
  });
  count(answer.status);
  return answer.text();
}
