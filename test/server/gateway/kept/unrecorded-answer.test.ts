import { expect, test } from "vitest";
import { AnswerIds } from "../../../../server/gateway/kept/answer-ids.ts";
import { UnrecordedAnswer } from "../../../../server/gateway/kept/unrecorded-answer.ts";

/** An answer whose records the test ends by hand; `sent` is what its client has been sent. */
function answer({ isFull = false, goesOn = false } = {}) {
  const sent: string[] = [];
  const records: PromiseWithResolvers<void>[] = [];
  const held = new UnrecordedAnswer({
    ids: new AnswerIds({ object: "response", items: "output" }, false),
    record: () => {
      const record = Promise.withResolvers<void>();
      records.push(record);
      return record.promise;
    },
    begin: () => sent.push("head"),
    pass: (chunk) => {
      sent.push(chunk.toString());
      return !isFull;
    },
    onReleased: (flows) => sent.push(`flows: ${flows}`),
    onEnd: () => sent.push("end"),
    onFailure: () => {
      sent.push("failure");
      if (!goesOn && !held.hasBegun) held.drop();
    },
  });
  const push = (text: string) => held.push(Buffer.from(text));
  const settle = async (at: number, isDone = true) => {
    if (isDone) records[at]?.resolve();
    else records[at]?.reject(new Error("away"));
    await new Promise(setImmediate);
  };
  return { sent, push, settle, end: () => held.end() };
}

test("b373: nothing is sent before the owner of the first id is recorded, also where the answer has ended", async () => {
  const { sent, push, settle, end } = answer();
  expect(push('{"object":"response",')).toBe(true);
  expect(push('"id":"r')).toBe(true);
  expect(push('1"}')).toBe(false);
  end();
  expect(sent).toEqual([]);
  await settle(0);
  expect(sent).toEqual(["head", '{"object":"response",', '"id":"r', '1"}', "end"]);
});

test("b373: an id that is longer than any is none, and holds nothing back", () => {
  const { sent, push } = answer();
  push(`{"id":"${"a".repeat(300 << 10)}`);
  expect(sent[0]).toBe("head");
});

test("b373: a later piece waits for the items that it names, and no part of an item's id goes before", async () => {
  const { sent, push, settle, end } = answer();
  push('{"id":"r1","output":[');
  await settle(0);
  expect(push('{"id":"i')).toBe(true);
  expect(push('1"},')).toBe(false);
  expect(push('{"id":"i2"}')).toBe(false);
  await settle(1);
  expect(sent).toEqual(["head", '{"id":"r1","output":[', "flows: true"]);
  await settle(2);
  expect(sent.slice(3)).toEqual(['{"id":"i', '1"},', '{"id":"i2"}', "flows: true"]);
  end();
  expect(sent.at(-1)).toBe("end");
});

test("b373: an answer whose owner cannot be recorded is not begun; one that has begun goes on", async () => {
  const refused = answer();
  refused.push('{"id":"r1"}');
  await refused.settle(0, false);
  refused.end();
  expect(refused.sent).toEqual(["failure"]);
  const begun = answer();
  begun.push('{"id":"r1","output":[');
  await begun.settle(0);
  begun.push('{"id":"i1"}');
  await begun.settle(1, false);
  expect(begun.sent.slice(3)).toEqual(["failure", '{"id":"i1"}', "flows: true"]);
});

test("an answer that goes on though its object has no owner is passed piece by piece from then on", async () => {
  const { sent, push, settle } = answer({ goesOn: true });
  push('{"id":"r1"');
  await settle(0, false);
  push(',"store":false');
  expect(sent).toEqual(["failure", "head", '{"id":"r1"', "flows: true", ',"store":false']);
});

test("an answer that names nothing is sent once it is long, or at its end", () => {
  const [brief, long] = [answer(), answer()];
  brief.push("{");
  expect(brief.sent).toEqual([]);
  brief.end();
  expect(brief.sent).toEqual(["head", "{", "end"]);
  long.push(" ".repeat(256 << 10));
  expect(long.sent).toEqual([]);
  long.push(" ");
  expect(long.sent).toHaveLength(3);
});

test("a client that is slower is waited for", async () => {
  const { sent, push, settle } = answer({ isFull: true });
  push('{"id":"r1"');
  await settle(0);
  expect(sent.at(-1)).toBe("flows: false");
  expect(push(',"x":1')).toBe(false);
});
