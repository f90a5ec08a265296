/** Attacks by callers who write what and when they like: on bare connections. */
import { randomBytes } from "node:crypto";
import { mintKey } from "../../../domain/key/secret/key-format.ts";
import { headOf, RawCall } from "./raw-call.ts";
import { LIBRARY } from "./tenants.ts";
import {
  CHAT,
  ENDLESS_ANSWER,
  JSON_BODY,
  MCP,
  MCP_TYPES,
  type Once,
  PLAIN_CHAT,
  pause,
  SMALL_ATOM,
  SMALL_CHAT,
  type Victim,
} from "./victim.ts";

const MIB = 1024 * 1024;
const A_MIB = Buffer.alloc(MIB, "a");
/** In bytes: 259 of them are 70 MB. */
const STALLED_SAVE = 270_000;
const CHUNK = `${(65_536).toString(16)}\r\n${"x".repeat(65_536)}\r\n`;
/** After that an upload that stalls, an answer that is not read, and what waits in a pipeline are given up. */
const STALL_MS = 12_000;
const UNREAD_MS = 10_000;
const PIPELINE_MS = 5_000;

export async function endlessBody({ url, keys, signal, count }: Victim, n: number): Promise<void> {
  const authorization = n % 2 === 0 ? `Bearer ${mintKey(randomBytes)}` : `Bearer ${keys.reader}`;
  const isSlow = n % 4 < 2;
  const call = new RawCall(url, signal);
  await call.write(headOf(url, "/atoms", { authorization, ...JSON_BODY, "transfer-encoding": "chunked" }));
  while (!signal.aborted && !call.isClosed) {
    await call.write(isSlow ? "1\r\nx\r\n" : CHUNK);
    await pause(isSlow ? 20 : 25, signal);
  }
  call.leave();
  count(call.status ?? "no answer");
}

export async function stalledUpload({ url, keys, signal, count }: Victim): Promise<void> {
  const call = new RawCall(url, signal);
  const headers = { authorization: `Bearer ${keys.full}`, ...JSON_BODY, "content-length": 31 * MIB };
  await call.write(headOf(url, CHAT, headers));
  await call.write('{"a":"');
  for (let sent = 0; sent < 30 && !signal.aborted && !call.isClosed; sent++) await call.write(A_MIB);
  await Promise.race([call.closed, pause(STALL_MS, signal)]);
  call.leave();
  count(call.status ?? "no answer");
}

/** Of three keys of the team in turn, and of sizes that fill what room there is, large and small. */
export async function stalledSave({ url, keys, signal, count }: Victim, n: number): Promise<void> {
  const bytes = [STALLED_SAVE, STALLED_SAVE, 2_000][n % 3] ?? STALLED_SAVE;
  const key = keys.more[n % keys.more.length] ?? keys.full;
  const call = new RawCall(url, signal);
  const headers = { authorization: `Bearer ${key}`, ...JSON_BODY, "content-length": bytes + 1 };
  await call.write(headOf(url, "/atoms", headers));
  await call.write(A_MIB.subarray(0, bytes));
  await Promise.race([call.closed, pause(STALL_MS, signal)]);
  call.leave();
  count(call.status ?? "no answer");
}

export function pipeline(length: number): Once {
  return async ({ url, keys, signal, count }, n) => {
    const call = new RawCall(url, signal);
    const [path, body] = n % 2 === 0 ? [CHAT, SMALL_CHAT] : ["/atoms", SMALL_ATOM];
    const headers = { authorization: `Bearer ${keys.full}`, ...JSON_BODY, "content-length": body.length };
    const request = headOf(url, path, headers) + body;
    await Promise.race([call.write(request.repeat(length)), pause(PIPELINE_MS, signal)]);
    await Promise.race([call.closed, pause(PIPELINE_MS, signal)]);
    call.leave();
    count(call.status ?? "no answer");
  };
}

export async function leaver({ url, keys, signal, count }: Victim, n: number): Promise<void> {
  const path = [CHAT, PLAIN_CHAT, "/atoms", MCP][n % 4] ?? CHAT;
  const call = new RawCall(url, signal);
  const headers = { authorization: `Bearer ${keys.full}`, ...MCP_TYPES, "content-length": 100_000 };
  await call.write(`${headOf(url, path, headers)}{"content":"${"x".repeat(20_000)}`);
  await Promise.race([call.closed, pause(50 + Math.random() * 200, signal)]);
  call.leave();
  count(call.status ?? "left");
}

export async function slowReader({ url, keys, signal, count }: Victim, n: number): Promise<void> {
  const call = new RawCall(url, signal);
  const headers = { authorization: `Bearer ${keys.full}`, ...JSON_BODY, "content-length": SMALL_CHAT.length };
  const path = n % 2 === 0 ? CHAT : PLAIN_CHAT;
  await call.write(headOf(url, path, { ...headers, [ENDLESS_ANSWER]: 1 }) + SMALL_CHAT);
  call.stopReading();
  await Promise.race([call.closed, pause(UNREAD_MS, signal)]);
  call.leave();
  count(call.isClosed ? "closed" : "left");
}

/** Large answers of our own: pages, a whole library, and what needs no key. */
const LARGE = ["/atoms?limit=100", `/atoms/export?library=${LIBRARY}`, "/openapi.json"];

export async function unreadPages({ url, keys, signal, count }: Victim, n: number): Promise<void> {
  const call = new RawCall(url, signal);
  call.stopReading();
  const path = LARGE[n % LARGE.length] ?? "/openapi.json";
  const headers: Record<string, string> = path === "/openapi.json" ? {} : { authorization: `Bearer ${keys.full}` };
  await call.write(headOf(url, path, headers, "GET").repeat(8));
  await Promise.race([call.closed, pause(UNREAD_MS, signal)]);
  call.leave();
  count(call.isClosed ? "closed" : "left");
}
