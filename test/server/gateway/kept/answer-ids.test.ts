import { array, assert, constantFrom, nat, property, record, string } from "fast-check";
import { expect, test } from "vitest";
import { AnswerIds } from "../../../../server/gateway/kept/answer-ids.ts";

const MADE = { object: "response", items: "output" } as const;

function idsIn(text: string, isEvents: boolean, cuts: readonly number[] = []): string[] {
  const bytes = Buffer.from(text);
  const reader = new AnswerIds(MADE, isEvents);
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  let at = 0;
  return ends.flatMap((end) => {
    const found = reader.push(bytes.subarray(at, end));
    at = end;
    return found.map(({ kind, id }) => `${kind} ${id}`);
  });
}

const ANSWER = {
  id: "r1",
  previous_response_id: "no",
  metadata: { id: "no", output: [{ id: "no" }] },
  output: [
    { id: "i1", type: "message", content: [{ id: "no", text: '{"id":"no"}' }] },
    { type: "reasoning", id: 'i"2', summary: [] },
    { id: "" },
    5,
  ],
  tools: [{ id: "no" }],
};

test("the response and its items are named by an answer, and nothing else in it", () => {
  expect(idsIn(JSON.stringify(ANSWER), false)).toEqual(["response r1", "item i1", 'item i"2']);
  expect(idsIn(JSON.stringify(ANSWER, null, 2), false)).toEqual(["response r1", "item i1", 'item i"2']);
});

test("each is named once by the events of a stream", () => {
  const events = [
    { type: "response.created", response: { id: "r1", output: [] } },
    { type: "response.output_item.added", item: { id: "i1", content: [] } },
    { type: "response.output_text.delta", item_id: "no", delta: '{"response":{"id":"no"}}', id: "no" },
    { type: "response.output_item.done", item: { id: "i1" } },
    { type: "response.completed", response: { id: "r1", output: [{ id: "i1" }, { id: "i2" }] } },
  ];
  const text = events.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join("");
  expect(idsIn(text, true)).toEqual(["response r1", "item i1", "item i2"]);
  expect(idsIn(text.replaceAll("\n", "\r\n"), true)).toEqual(["response r1", "item i1", "item i2"]);
});

test("b373: an answer names the same however it is cut into pieces, and each id once all of it is there", () => {
  const texts = constantFrom("a\\", '\\"id\\":\\"x', "\u{1f600}", '{"id":"no"}', "", "line\nline");
  const items = array(record({ content: texts, id: string({ minLength: 1, maxLength: 20 }) }), { maxLength: 4 });
  assert(
    property(items, array(nat(2_000), { maxLength: 12 }), (output, cuts) => {
      const answer = JSON.stringify({ text: "}", id: "r1", output });
      const whole = ["response r1", ...new Set(output.map(({ id }) => `item ${id}`))];
      expect(idsIn(answer, false, cuts)).toEqual(whole);
      expect(idsIn(`data: ${JSON.stringify({ response: JSON.parse(answer) })}\n\n`, true, cuts)).toEqual(whole);
    }),
  );
});

test("b373: an empty piece behind a backslash ends no text", () => {
  const text = JSON.stringify({ x: '"', id: "r1" });
  const cut = text.indexOf("\\") + 1;
  expect(idsIn(text, false, [cut, cut])).toEqual(["response r1"]);
});

test("b373: a piece that ends within an id says so", () => {
  const reader = new AnswerIds(MADE, false);
  reader.push(Buffer.from('{"id":"r'));
  expect(reader.isInId).toBe(true);
  expect(reader.push(Buffer.from('1","x":"'))).toEqual([{ kind: "response", id: "r1" }]);
  expect(reader.isInId).toBe(false);
});

test("a thousand objects of an answer are named, and no more", () => {
  const output = Array.from({ length: 2_000 }, (_, id) => ({ id: `i${id}` }));
  expect(idsIn(JSON.stringify({ id: "r1", output }), false)).toHaveLength(1_000);
});

test("whatever bytes come, they are read", () => {
  for (const text of ["", "}", "]]}}", '{"id"', '{"id":}', '"id"', '{"id":{"id":"x"}}', "[".repeat(1_000)]) {
    expect(idsIn(text, false)).toEqual([]);
  }
});
