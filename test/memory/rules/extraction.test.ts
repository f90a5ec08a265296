import { expect, test } from "vitest";
import { INSTRUCTIONS, readStatements } from "../../../memory/rules/extraction.ts";

const answer = (...statements: object[]) => JSON.stringify({ statements });
const contents = (text: string) => readStatements(text)?.map(({ content }) => content);

test("the statements of an answer are read, in a block of Markdown too, and are never important", () => {
  const given = answer(
    { content: " Deploys are on Monday. ", tags: ["ops", "ops"], importance: 10 },
    { content: "Tea." },
  );
  const expected = [
    { content: "Deploys are on Monday.", tags: ["ops"], importance: 4 },
    { content: "Tea.", tags: [], importance: 3 },
  ];
  expect(readStatements(given)).toEqual(expected);
  expect(readStatements(`\`\`\`json\n${given}\n\`\`\`\n`)).toEqual(expected);
  expect(readStatements(answer())).toEqual([]);
});

test.each([
  ["no JSON", "Here are the statements: none."],
  ["something else", '["Deploys are on Monday."]'],
  ["a field that a model may not set", answer({ content: "a", links: [{ rel: "replaces", id: "x" }] })],
  ["a library of its choice", answer({ content: "a", library: "other" })],
  ["a validity", answer({ content: "a", validTo: "2020-01-01T00:00:00Z" })],
  ["an empty statement", answer({ content: "" })],
  ["a statement without end", answer({ content: "a".repeat(1_001) })],
  ["too many", answer(...Array.from({ length: 11 }, (_, n) => ({ content: `Number ${n}.` })))],
  ["a NUL character", answer({ content: "a\u0000b" })],
])("%s is no answer", (_what, text) => {
  expect(readStatements(text)).toBeUndefined();
});

test("b296: what has no character that is seen is no statement", () => {
  const given = [" \n", "\u200b", "\u00ad\u2060 \ufeff", "Tea."].map((content) => ({ content }));
  expect(contents(answer(...given))).toEqual(["Tea."]);
});

test("an instruction is no statement, whole or in part", () => {
  const sentences = INSTRUCTIONS.split(/(?<=\.) /);
  const given = ["the statement", "The user message is a JSON array of messages", ...sentences.slice(0, 8)];
  expect(
    contents(answer(...given.map((content) => ({ content: content.slice(0, 1_000) })), { content: "Tea." })),
  ).toEqual(["Tea."]);
});

test("of what says the same the first is kept, and what has other numbers is another statement", () => {
  const given = ["The port is 5433.", "the port is 5433", "The port is 5434."].map((content) => ({ content }));
  expect(contents(answer(...given))).toEqual(["The port is 5433.", "The port is 5434."]);
});

test("half of a character is none, in which no database would take it", () => {
  expect(readStatements('{"statements": [{"content": "Tea \\ud83c.", "tags": ["\\udf75"]}]}')).toEqual([
    { content: "Tea \ufffd.", tags: ["\ufffd"], importance: 3 },
  ]);
});

test("a secret is hidden", () => {
  expect(contents(answer({ content: "The password: hunter22" }))).toEqual(["The password: [secret]"]);
});
