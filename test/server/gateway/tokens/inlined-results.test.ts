import {
  array,
  assert,
  boolean,
  constant,
  constantFrom,
  dictionary,
  integer,
  letrec,
  nat,
  oneof,
  pre,
  property,
  string,
} from "fast-check";
import { expect, test } from "vitest";
import { NO_TOKENS } from "../../../../domain/usage/tokens.ts";
import { InlinedResults } from "../../../../server/gateway/tokens/inlined-results.ts";
import { leastOfFive, threadCpuTimeOf } from "../../../env/cpu-time.ts";

const result = (model: string, usageMetadata: object, text = "Hi") => ({
  response: { candidates: [{ content: { parts: [{ text }], usageMetadata: 7 } }], usageMetadata, modelVersion: model },
  metadata: { key: "1" },
});

function read(...pieces: readonly (string | Buffer)[]) {
  const kept: Buffer[] = [];
  const results = new InlinedResults((bytes) => kept.push(Buffer.from(bytes)), true);
  for (const piece of pieces) results.push(Buffer.from(piece));
  return { rest: Buffer.concat(kept).toString(), results };
}

const OUTPUT = {
  inlinedResponses: {
    inlinedResponses: [
      result("m", { promptTokenCount: 1, candidatesTokenCount: 2 }, '"\\]}"inlinedResponses":{"usageMetadata'),
      { error: { message: "]" } },
      result("n", { promptTokenCount: 10 }),
      result("m", { promptTokenCount: 4, candidatesTokenCount: 5 }),
    ],
  },
};
const TEXT = JSON.stringify({
  name: 'batches/"é\\',
  metadata: { inputConfig: { requests: { requests: [{ request: {} }] } }, output: OUTPUT, state: "inlinedResponses" },
  done: true,
  response: { "@type": "x", ...OUTPUT },
});
const REST = {
  name: 'batches/"é\\',
  metadata: { inputConfig: { requests: {} }, output: { inlinedResponses: {} }, state: "inlinedResponses" },
  done: true,
  response: { "@type": "x", inlinedResponses: {} },
};
const USED = [
  { tokens: { ...NO_TOKENS, input: 5, output: 7 }, model: "m", ending: "reported", isDoubtful: false },
  { tokens: { ...NO_TOKENS, input: 10 }, model: "n", ending: "reported", isDoubtful: false },
];

test("b414: results are taken out and added up by model once, wherever the pieces of a description end", () => {
  const text = Buffer.from(TEXT);
  const bytes = [...text].map((byte) => Buffer.of(byte));
  for (const pieces of [[text], bytes, [JSON.stringify(JSON.parse(TEXT), null, 2)]]) {
    const { rest, results } = read(...pieces);
    expect([JSON.parse(rest), results.used, results.hasAny]).toEqual([REST, USED, true]);
  }
  for (let at = 0; at < text.length; at++) {
    const { rest, results } = read(text.subarray(0, at), text.subarray(at));
    expect([JSON.parse(rest), results.used]).toEqual([REST, USED]);
  }
});

test("b414: of two places the one that reports more counts, under escaped names too", () => {
  const place = (input: number) => JSON.stringify({ inlinedResponses: [result("m", { promptTokenCount: input })] });
  for (const [one, other] of [
    [1, 9],
    [9, 1],
  ] as const) {
    const { results } = read(`[${place(one)},${place(other).replace("inlinedR", "inlined\\u0052")}]`);
    expect(results.used).toMatchObject([{ tokens: { input: 9 } }]);
  }
});

test("b414: the tokens of what was embedded are numbers, or texts of them", () => {
  const of = (tokenCount: unknown) => ({ response: { embedding: { values: [1, 2] }, tokenCount } });
  const { results } = read(
    JSON.stringify({ inlinedEmbedContentResponses: { inlinedResponses: [of("5"), of(7), of(undefined)] } }),
  );
  expect(results.used).toMatchObject([{ tokens: { ...NO_TOKENS, input: 12 }, isDoubtful: false }]);
  expect(read(JSON.stringify({ inlinedResponses: [of("x")] })).results.used).toMatchObject([{ isDoubtful: true }]);
});

test("a description without results stays as it is, and any bytes are taken", () => {
  for (const text of [
    '{"a":"inlinedResponses","inlinedResponses":null,"requests":1,"b":{"c":[{}]}}',
    "{}",
    "",
    '"',
    "[[]]",
  ]) {
    const { rest, results } = read(...[...text]);
    expect([rest, results.hasAny, results.used]).toEqual([text, false, []]);
  }
  for (const bytes of ["}}}]", '"\\', "\0\xff", '{"inlinedResponses":]]}', '{"inlinedResponses":[{"a'])
    expect(() => read(bytes, bytes)).not.toThrow();
  expect(read(`{"inlinedResponses":${"[".repeat(40)}`).results.isUnreadable).toBe(true);
});

test("b414: results under names of other spellings are taken out and counted, and a text in their place is not read", () => {
  const other = (text: string) =>
    text
      .replaceAll('"inlinedResponses":', '"inlined_responses":')
      .replaceAll('"usageMetadata":{', '"usage_metadata":{')
      .replaceAll('"modelVersion":', '"model_version":')
      .replaceAll('"promptTokenCount":', '"prompt_token_count":')
      .replaceAll('"candidatesTokenCount":', '"candidates_token_count":');
  const { rest, results } = read(other(TEXT));
  expect([rest.includes("candidates"), results.used]).toEqual([false, USED]);
  const embedded = { response: { embedding: { values: [0.125, 0.25] }, token_count: "5" } };
  expect(read(JSON.stringify({ inlined_embed_content_responses: [embedded] })).results.used).toMatchObject([
    { tokens: { input: 5 } },
  ]);
  expect(read('{"inlinedResponses" : "', "[{}]").results.isUnreadable).toBe(true);
});

test.each<readonly [string, string, string]>([
  ["short results", '{"done":true,"inlinedResponses":[', "{},"],
  ["short names with escapes", '{"done":true,', String.raw`"\x",`],
  ["names with bad escapes", '{"done":true,', String.raw`"\x\x\x\x",`],
  ["names with escapes", '{"done":true,', String.raw`"\u0052equest":"\u0052equest",`],
  ["empty texts", '{"done":true,', '"",'],
])("b414: a description of many %s costs what its bytes do", async (_, start, part) => {
  const pieces = [Buffer.from(start), ...Array(4).fill(Buffer.from(part.repeat((64 << 10) / part.length)))];
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  const microsecondsOfByte = () => {
    const results = new InlinedResults(() => {}, true);
    const took = threadCpuTimeOf(() => {
      for (const piece of pieces) results.push(piece);
    });
    return (took * 1_000) / bytes;
  };
  expect(await leastOfFive(0.6, microsecondsOfByte)).toBeLessThan(0.6);
});

test("b414: whatever a description is, what is left is the same without the values that are taken out", () => {
  const names = ["inlinedResponses", "inlinedEmbedContentResponses", "requests", "a", 'q"', "\\", "", "response"];
  const { tree } = letrec((tie) => ({
    tree: oneof(
      { maxDepth: 5, withCrossShrink: true },
      oneof(constantFrom(...names), string(), integer(), constant(null), boolean()),
      array(tie("tree"), { maxLength: 3 }),
      dictionary(constantFrom(...names), tie("tree"), { maxKeys: 4 }),
    ),
  }));
  names.push("inlined_responses", "Requests");
  const spaced = (value: unknown, indent: number) => JSON.stringify(value, null, indent);
  assert(
    property(tree, nat(2), array(integer({ min: 1, max: 9 }), { minLength: 1 }), (value, indent, lengths) => {
      pre(!hasTextForResults(value));
      const text = Buffer.from(spaced(value, indent));
      const pieces: Buffer[] = [];
      for (let at = 0, turn = 0; at < text.length; turn++) {
        const length = lengths[turn % lengths.length] ?? 1;
        pieces.push(text.subarray(at, at + length));
        at += length;
      }
      expect(JSON.parse(read(...pieces).rest)).toEqual(without(value));
    }),
  );
});

function without(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(without);
  const isTaken = (name: string, one: unknown) =>
    typeof one === "object" && one !== null && /^(?:inlined\w*Responses|requests)$/i.test(name);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, isTaken(name, one) ? {} : without(one)]));
}

function hasTextForResults(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([name, one]) => (/^inlined\w*Responses$/i.test(name) && typeof one === "string") || hasTextForResults(one),
  );
}
