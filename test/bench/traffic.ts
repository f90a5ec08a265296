import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { mintKey } from "../../domain/key/secret/key-format.ts";

export const PUBLIC_ID = "bench";
/** The gateway whose upstream answers with streams of events. */
export const STREAM_PUBLIC_ID = "stream";
export const CONNECTIONS = 32;
export const PROVIDER_CREDENTIAL = "sk-bench-0123456789abcdefghijklmnopqrstuvwxyz";

/** The call that is measured: a chat completion as an SDK sends it. */
export const PATH = `/g/${PUBLIC_ID}/v1/chat/completions`;
/** The same of the gateway whose upstream streams. */
export const STREAM_PATH = `/g/${STREAM_PUBLIC_ID}/v1/chat/completions`;
/** Where the floor answers 401. */
export const REFUSED_PATH = "/refused";
export const BODY = JSON.stringify({
  model: "gpt-5-mini",
  messages: [
    { role: "user", content: "Say in one sentence what a platform key is, for a reader who has never seen one." },
  ],
});
const HEAD = ["Accept: application/json", "Content-Type: application/json", "User-Agent: OpenAI/JS 7.55.0"];

/** The upstream's answer: a JSON document of 1 KB. */
export const ANSWER = answerOf(1_024);

function answerOf(bytes: number): string {
  const completion = (content: string) =>
    JSON.stringify({
      id: "chatcmpl-bench",
      object: "chat.completion",
      model: "gpt-5-mini",
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      usage: { prompt_tokens: 24, completion_tokens: 180, total_tokens: 204 },
    });
  return completion("A platform key. ".repeat(bytes).slice(0, bytes - completion("").length));
}

/** What one run of load came to. */
export type Load = {
  readonly requests: number;
  readonly refused: number;
  readonly perSecond: number;
  /** Milliseconds of a request. */
  readonly p50: number;
  readonly p99: number;
};

/** Plaintexts of new keys. */
export function mintedKeys(count: number): string[] {
  return Array.from({ length: count }, () => mintKey(randomBytes));
}

/** How a server wants to be called. */
export type Call = { readonly path: string; readonly keys: readonly string[]; readonly headers?: readonly string[] };

/** Writes the script that makes wrk send the call, with another of the keys each time. */
export async function writeWrkScript(
  folder: string,
  name: string,
  { path, keys, headers: more = [] }: Call,
): Promise<string> {
  const headers = [...HEAD, ...more].map((line) => line.split(": ")).map(([n, value]) => `["${n}"] = "${value}"`);
  const file = join(folder, `${name}.lua`);
  await writeFile(
    file,
    `local keys = {${keys.map((key) => `"${key}"`).join(",")}}
local requests = {}
local at = 0
function init(args)
  for i, key in ipairs(keys) do
    local headers = {["Authorization"] = "Bearer " .. key, ${headers.join(", ")}}
    requests[i] = wrk.format("POST", "${path}", headers, [[${BODY}]])
  end
end
function request()
  at = at % #requests + 1
  return requests[at]
end
`,
  );
  return file;
}

/** wrk, and the script that says what it sends. */
export type LoadGenerator = { readonly wrk: string; readonly script: string };

/** Loads a server from {@link CONNECTIONS} connections. Throws where anything but a 200 came back, or but a refusal. */
export async function load(
  { wrk, script }: LoadGenerator,
  port: number,
  seconds: number,
  expected: "2xx" | "refusals" | "either" = "2xx",
): Promise<Load> {
  const args = [
    "-t1",
    `-c${CONNECTIONS}`,
    `-d${seconds}s`,
    "--timeout",
    "10s",
    "--latency",
    "-s",
    script,
    `http://127.0.0.1:${port}/`,
  ];
  const { stdout } = await promisify(execFile)(wrk, args);
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  const perSecond = Number(/Requests\/sec:\s*([\d.]+)/.exec(stdout)?.[1]);
  const refused = Number(/Non-2xx or 3xx responses: (\d+)/.exec(stdout)?.[1] ?? 0);
  const isRefusedAsExpected = expected === "either" || refused === (expected === "2xx" ? 0 : requests);
  const isExpected = isRefusedAsExpected && !stdout.includes("Socket errors");
  if (!isExpected || !(requests > 0)) throw new Error(`the load met errors:\n${stdout}`);
  return { requests, refused, perSecond, p50: wrkTime(stdout, "50%"), p99: wrkTime(stdout, "99%") };
}

/** Milliseconds of what wrk says in the unit that suits it. */
function wrkTime(stdout: string, share: string): number {
  const [, value, unit = ""] = new RegExp(`^ +${share} +([\\d.]+)(us|ms|s)$`, "m").exec(stdout) ?? [];
  return Number(value) * ({ us: 0.001, ms: 1, s: 1_000 }[unit] ?? Number.NaN);
}

/** The bytes of one call, for {@link PATH} or another path. */
export function callBytes(port: number, key: string, path = PATH): Buffer {
  const head = [`POST ${path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${key}`, ...HEAD];
  return Buffer.from([...head, `Content-Length: ${Buffer.byteLength(BODY)}`, "", BODY].join("\r\n"));
}

/** Makes the call `count` times on one connection, one after the other; returns each one's microseconds. */
export async function callSequentially(port: number, key: string, count: number): Promise<number[]> {
  const request = callBytes(port, key);
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const times: number[] = [];
  let received = "";
  let sentAt = 0;
  const send = (): void => {
    received = "";
    sentAt = performance.now();
    socket.write(request);
  };
  socket.setEncoding("latin1");
  return new Promise((resolve, reject) => {
    socket.once("connect", send);
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the connection was closed")));
    socket.on("data", (chunk) => {
      received += chunk;
      if (!received.endsWith(ANSWER)) return;
      times.push((performance.now() - sentAt) * 1_000);
      if (times.length < count) send();
      else {
        resolve(times);
        socket.destroy();
      }
    });
    socket.setTimeout(5_000, () => socket.destroy(new Error(`no answer, or another: ${received.slice(0, 200)}`)));
  });
}
