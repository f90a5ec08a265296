import { assert, jsonValue, property } from "fast-check";
import { fastify } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLog } from "../../../../runtime/log.ts";
import { parseJsonOnly } from "../../../../server/http/bodies/json-body.ts";
import { API_BOUNDS, memberScan } from "../../../../server/http/bodies/json-members.ts";
import { errorHandler } from "../../../../server/http/problems/error-handler.ts";
import { hostileBodies } from "../../../bench/hostile-bodies.ts";
import { expectFairSlices } from "./fair-slices.ts";

const app = fastify({ logger: false });
beforeAll(async () => {
  app.setErrorHandler(errorHandler(createLog("error", { write: () => {} })));
  parseJsonOnly(app);
  app.post("/", (request) => ({ parsed: request.body ?? null }));
  await app.ready();
});
afterAll(() => app.close());

async function post(payload: string | Buffer, type = "application/json") {
  const headers = { "content-type": type };
  const { statusCode: status, body } = await app.inject({ method: "POST", url: "/", headers, payload });
  return { status, body: JSON.parse(body) };
}

test.each([
  ['{"team":"t2","team":"t1"}'],
  ['{"team":"t2","te\\u0061m":"t1"}'],
  ['{"spec":{"scopes":["a"],"scopes":["b"]}}'],
  ['[{"a":1,"a":1}]'],
  ['{"":1,"":1}'],
  ['{"\\u00e9":1,"é":1}'],
])("b94: the body %s, which has a member twice, is 400", async (body) => {
  const answer = await post(body);
  expect(answer.status).toBe(400);
  expect(answer.body.detail).toBe("The body has an object with two members of one name.");
});

test.each([
  ['{"team":"t2","Team":"t1"}'],
  ['{"a":{"b":1},"b":{"a":1}}'],
  ['[{"a":1},{"a":1}]'],
  ['{"a\\"b":1,"a":1}'],
  ['\uFEFF{"a":1}'],
])("b94: the body %s, which has no member twice, is read", async (body) => {
  expect(await post(body)).toEqual({ status: 200, body: { parsed: JSON.parse(body.replace("\uFEFF", "")) } });
});

test.each([['{"__proto__":{"a":1}}'], ['{"a":[{"b":1,"__proto__":null}]}'], ['{"\\u005f_proto__":1}']])(
  "the body %s is 400 for its member, and not as broken JSON",
  async (body) => {
    const answer = await post(body);
    expect([answer.status, answer.body.detail]).toEqual([
      400,
      'The body has a member "__proto__", which nothing here takes: leave it out.',
    ]);
  },
);

test.each([
  ['{"constructor":{"prototype":{"a":1}}}'],
  ['{"a":[{"constructor":{"b":1,"prototype":1}}]}'],
  ['{"con\\u0073tructor":{"\\u0070rototype":null}}'],
])("the body %s is 400 for the member that it has, and not as broken JSON", async (body) => {
  const answer = await post(body);
  expect([answer.status, answer.body.detail]).toEqual([
    400,
    'The body has a member "constructor" with a "prototype" in it, by which a program that copies it changes all of its objects: leave it out.',
  ]);
});

test.each([
  ['{"constructor":"Ann","prototype":"b"}'],
  ['{"constructor":[{"prototype":1}]}'],
  ['{"constructor":{"of":{"prototype":1}}}'],
])("the body %s, which has a constructor as any other member, is read", async (body) => {
  expect(await post(body)).toEqual({ status: 200, body: { parsed: JSON.parse(body) } });
});

/** A body with these bytes in a text. */
const withBytes = (...bytes: number[]) => Buffer.concat([Buffer.from('{"a":"'), Buffer.from(bytes), Buffer.from('"}')]);

test.each([
  ["Latin-1", Buffer.from('{"content":"Größe fünf"}', "latin1")],
  ["a character that is cut", withBytes(0xe2, 0x82)],
  ["a continuation alone", withBytes(0x80)],
  ["a longer form than is needed", withBytes(0xc0, 0xaf)],
  ["half of a surrogate pair", withBytes(0xed, 0xa0, 0x80)],
  ["a pair of surrogates", withBytes(0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80)],
  ["a character beyond the last", withBytes(0xf4, 0x90, 0x80, 0x80)],
  ["Latin-1 in a member's name", Buffer.from('{"größe":1}', "latin1")],
  ["UTF-16 with its mark", Buffer.from('\uFEFF{"a":1}', "utf16le")],
  ["UTF-16 the other way round", Buffer.from('\uFEFF{"a":1}', "utf16le").swap16()],
])("b307: a body of %s is 400, and says why", async (_what, body) => {
  expect(await post(body)).toMatchObject({ status: 400, body: { detail: NOT_UTF8 } });
});
const NOT_UTF8 = "The body is not UTF-8, which is what JSON is: send it in UTF-8.";

test("b307: UTF-16 without a mark is no JSON, and U+FFFD in UTF-8 is a character as any other", async () => {
  expect((await post(Buffer.from('{"a":1}', "utf16le"))).status).toBe(400);
  const value = { a: "\uFFFD€😀" };
  expect(await post(JSON.stringify(value))).toEqual({ status: 200, body: { parsed: value } });
});

test.each([
  ["iso-8859-1", 415],
  ["ISO-8859-1; charset=utf-8", 415],
  ['"windows-1252"', 415],
  ["utf-16", 415],
  ["us-ascii", 415],
  ["", 415],
  ["utf-8", 200],
  ["UTF8", 200],
  ['"utf-8"; a=b', 200],
])("b307: a body that says charset=%s is %i", async (charset, status) => {
  expect((await post('{"a":1}', `application/json; charset=${charset}`)).status).toBe(status);
});

test("b83: a body at the bounds is read, and beyond them it is 400 and says the bound", async () => {
  const { values, depth } = API_BOUNDS;
  const list = (length: number) => JSON.stringify(Array.from({ length }, () => 1));
  const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  expect((await post(list(values))).status).toBe(200);
  expect((await post(deep(depth))).status).toBe(200);
  const many = await post(list(values + 1));
  expect([many.status, many.body.detail]).toEqual([400, "The body has more than 10000 members and elements."]);
  const deeper = await post(deep(depth + 1));
  expect([deeper.status, deeper.body.detail]).toEqual([400, "The body is nested more than 64 deep."]);
});

/** Has what could change the prototype of objects, which is refused. */
const hasPrototype = (value: unknown) => /"(__proto__|prototype)":/.test(JSON.stringify(value));

test("b83: what the scan lets through is what JSON.parse reads", () => {
  const values = jsonValue({ maxDepth: 8 }).filter((value) => !hasPrototype(value));
  assert(
    property(values, (value) => {
      const scan = memberScan(Buffer.from(JSON.stringify(value)));
      expect(scan.run(1_000_000)).toBe(true);
    }),
  );
});

test.each([...hostileBodies(800_000)])(
  "b83: %s: a body of an API is answered, and no slice holds the thread",
  async (_, body) => {
    await expectFairSlices(body, () => memberScan(body));
    expect([200, 400]).toContain((await post(body)).status);
  },
);
