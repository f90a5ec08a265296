/** What every attack is given, and where it goes. */
import { setTimeout as delay } from "node:timers/promises";
import { GATEWAYS, LIBRARY, MODEL } from "./tenants.ts";

/** Keys of the hostile team: one with every scope and more of its kind, one that may only read memory, one revoked. */
export type HostileKeys = {
  readonly full: string;
  readonly more: readonly string[];
  readonly reader: string;
  readonly revoked: string;
};

export type Victim = {
  readonly url: string;
  readonly keys: HostileKeys;
  readonly signal: AbortSignal;
  /** Counts what came of one try: a status, or a word. */
  readonly count: (outcome: number | string) => void;
};

/** One try by the n-th of those at once, which repeats it. */
export type Once = (victim: Victim, n: number) => Promise<void>;

export const CHAT = `/g/${GATEWAYS.hostile.routes}/v1/chat/completions`;
export const PLAIN_CHAT = `/g/${GATEWAYS.hostile.plain}/v1/chat/completions`;
export const MCP = "/api/v1/memory/mcp";
export const JSON_BODY = { "content-type": "application/json" };
export const MCP_TYPES = { ...JSON_BODY, accept: "application/json, text/event-stream" };
export const SMALL_CHAT = JSON.stringify({ model: MODEL, messages: [] });
export const SMALL_ATOM = JSON.stringify({ content: "everywhere pipelined", library: LIBRARY });
/** The header by which the hostile upstream is asked for an answer without an end. */
export const ENDLESS_ANSWER = "x-endless-answer";

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
