import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { NIGHTLY } from "../../env/nightly.ts";
import { until } from "../../env/until.ts";
import { allDialects, routeOf, startGateway } from "./gateway.ts";

/** Beyond what is not pooled whole: a body that is rewritten has memory that others have had. */
const FILLING = (NIGHTLY ? 12 : 5) * 1024 * 1024;
const LETTERS = ["a", "b", "c", "d", "e", "f"] as const;
const HEAD = 64;

/** Answers a body at its end, or at its beginning while it reads on, and notes the letters that each body is made of. */
async function startReader() {
  const letters = new Map<string, Set<number>>();
  let whole = 0;
  const server = createServer((request, response) => {
    const letter = String(request.headers["x-letter"]);
    const seen = letters.get(letter) ?? new Set();
    letters.set(letter, seen);
    let [at, open] = [0, 0];
    request.on("data", (chunk: Buffer) => {
      if (at > HEAD) for (const byte of [chunk[0], chunk[chunk.length >> 1], chunk.at(-8)]) seen.add(byte ?? 0);
      at += chunk.length;
      if (open++ === 0 && request.headers["x-early"] !== undefined) response.end("{}");
    });
    request.on("error", () => {});
    response.on("error", () => {});
    request.on("end", () => {
      whole += 1;
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return { url: `http://127.0.0.1:${address.port}`, letters, whole: () => whole };
}

test("b83: memory that large bodies have one after the other shows no caller's body to another's upstream", async () => {
  const upstream = await startReader();
  const harness = await startGateway();
  onTestFinished(harness.close);
  const { publicId } = harness.addGateway({ ...allDialects(upstream.url), routes: [routeOf("fast")] });
  const call = async (letter: string, headers: Record<string, string>, leaveAfterMs?: number): Promise<number> => {
    const left = new AbortController();
    if (leaveAfterMs !== undefined) void delay(leaveAfterMs).then(() => left.abort());
    const answer = await fetch(`${harness.url}/g/${publicId}/v1/embeddings`, {
      method: "POST",
      headers: { "x-api-key": harness.addKey(), "content-type": "application/json", "x-letter": letter, ...headers },
      body: `{"model":"fast","input":"${letter.repeat(FILLING)}"}`,
      signal: left.signal,
    });
    await answer.text();
    return answer.status;
  };
  for (let round = 0; round < 3; round++) {
    const leavers = LETTERS.slice(0, 2).map((letter, n) => call(letter, {}, 8 + 16 * n).catch(() => 0));
    const early = LETTERS.slice(2, 4).map((letter) => call(letter, { "x-early": "1" }).catch(() => 0));
    const patient = LETTERS.slice(4).map((letter) => call(letter, {}));
    expect(await Promise.all(patient)).toEqual([200, 200]);
    await Promise.all([...leavers, ...early]);
  }
  await until("bodies have come whole", () => upstream.whole() >= 6);
  for (const [letter, seen] of upstream.letters) {
    expect([...seen].map((byte) => String.fromCharCode(byte)).filter((each) => each !== letter)).toEqual([]);
  }
});
