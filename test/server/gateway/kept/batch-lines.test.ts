import { expect, test } from "vitest";
import { BatchLines, openaiLine } from "../../../../server/gateway/kept/batch-lines.ts";
import { problem } from "../../../../server/http/problems/problem.ts";

const ENDPOINT = "/v1/chat/completions";
const FULL = problem("unavailable", "full");
const lineOf = (model: string, more: object = {}) =>
  JSON.stringify({ custom_id: "1", method: "POST", url: ENDPOINT, body: { model, ...more } });

function linesOf({ readsModels = true, room = Number.POSITIVE_INFINITY } = {}) {
  let reserved = 0;
  const lines = new BatchLines({
    ...openaiLine(ENDPOINT),
    operation: "gateway.chat_completions",
    readsModels,
    reserve(bytes) {
      reserved += bytes;
      return reserved > room ? FULL : undefined;
    },
  });
  return { lines, reserved: () => reserved };
}

async function read(lines: BatchLines, ...pieces: readonly (string | Buffer)[]) {
  for (const piece of pieces) {
    const refusal = await lines.push(Buffer.from(piece));
    if (refusal !== undefined) return refusal.detail;
  }
  return (await lines.end())?.detail;
}

test("b411: what lines name is found wherever the pieces of the file end", async () => {
  const text = Buffer.from(
    `${lineOf("m", { file_id: "file_\u00e9" })}\r\n\n${lineOf("m", { x: { file_ids: ["file_2"] } })}`,
  );
  for (let at = 0; at <= text.length; at++) {
    const { lines } = linesOf();
    expect(await read(lines, text.subarray(0, at), text.subarray(at))).toBeUndefined();
    expect([lines.model, lines.references]).toEqual([
      "m",
      [
        { kind: "file", id: "file_\u00e9" },
        { kind: "file", id: "file_2" },
      ],
    ]);
  }
});

test("b411: a file holds as much memory as its longest line, and none is read where there is none", async () => {
  const { lines, reserved } = linesOf();
  const long = lineOf("m", { x: "x".repeat(100_000) });
  const pieces = `${long}\n`.repeat(20).match(/.{1,9999}\n?|\n/gs) ?? [];
  expect(await read(lines, ...pieces)).toBeUndefined();
  expect(reserved()).toBe(long.length);
  expect(await read(linesOf({ room: 50_000 }).lines, ...pieces)).toBe("full");
});

test("b411: a refused file is read no further, and its refusal stays", async () => {
  const { lines } = linesOf();
  expect(await lines.push(Buffer.from("{}\n"))).toBeDefined();
  expect(await lines.push(Buffer.from(`${lineOf("m")}\n`))).toMatchObject({
    detail: expect.stringContaining("Line 1 "),
  });
  expect(await lines.end()).toBeDefined();
});

test.each<readonly [string, string]>([
  ["more blank lines", "\r\n".repeat(100_001)],
  ["more requests", `${lineOf("m")}\n`.repeat(50_001)],
  ["more objects", lineOf("m", { file_ids: Array.from({ length: 1_001 }, (_, at) => `file_${at}`) })],
  [
    "objects in all lines",
    Array.from({ length: 101 }, (_, line) =>
      lineOf("m", { file_ids: Array.from({ length: 10 }, (__, at) => `f${line}_${at}`) }),
    ).join("\n"),
  ],
  ["members in a line", `{${Array.from({ length: 101 }, (_, at) => `"m${at}":1`).join()}}`],
])("b411: a file with %s than may be is refused", async (_, text) => {
  expect(await read(linesOf().lines, text)).toContain("more than");
});

test("b411: a file of more than 200 MiB is refused, and one of blank lines", async () => {
  const line = Buffer.from(`${lineOf("m")}\n`);
  // A line that is as long is refused by its own length, up to there.
  const rest = Buffer.alloc((200 << 20) + 1 - line.length);
  for (const [piece, said] of [
    [rest.subarray(1), "It is longer than"],
    [rest, "200 MiB"],
  ] as const) {
    const { lines } = linesOf();
    expect(await lines.push(line)).toBeUndefined();
    expect(await lines.push(piece)).toMatchObject({ detail: expect.stringContaining(said) });
  }
  expect(await read(linesOf().lines, "\n".repeat(90_000), "\r\n".repeat(1_000))).toContain("no request");
});

test("lines may name several models where models do not matter", async () => {
  const { lines } = linesOf({ readsModels: false });
  expect(await read(lines, `${lineOf("m")}\n${lineOf("n", { fallbacks: ["x"] })}`)).toBeUndefined();
  expect(lines.model).toBeUndefined();
});
