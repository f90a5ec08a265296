import { array, assert, jsonValue, nat, property, string, uint8Array } from "fast-check";
import { expect, test } from "vitest";
import { BodyFault, JsonScanner, type JsonVisitor } from "../../../../server/http/bodies/json-scanner.ts";
import { hostileBodies } from "../../../bench/hostile-bodies.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { expectFairSlices } from "./fair-slices.ts";

const BOUNDS = { values: 1_000_000, depth: 256 };
/** Walks over a body and says what was seen, in slices of the given steps. */
function walk(body: Buffer, steps: () => number): { seen: string[]; slices: number } {
  const seen: string[] = [];
  const text = (start: number, end: number) => body.toString("utf8", start, end);
  const visitor: JsonVisitor<string> = {
    open: (context, isObject) => {
      seen.push(`${context} ${isObject ? "{" : "["}`);
      return isObject ? context : `${context}[]`;
    },
    member: (object, start, end) => `${object}.${text(start, end)}`,
    scalar: (context, start, end) => seen.push(`${context} ${text(start, end)}`),
  };
  const scanner = new JsonScanner(body, BOUNDS, visitor, "$");
  let slices = 1;
  for (; !scanner.run(steps()); slices += 1);
  return { seen, slices };
}

/** What {@link walk} says of a parsed value. */
function outline(value: unknown, context = "$"): string[] {
  if (Array.isArray(value)) return [`${context} [`, ...value.flatMap((each) => outline(each, `${context}[]`))];
  if (typeof value !== "object" || value === null) return [`${context} ${JSON.stringify(value)}`];
  const inside = Object.entries(value).flatMap(([name, each]) => outline(each, `${context}.${JSON.stringify(name)}`));
  return [`${context} {`, ...inside];
}

test("b83: a scanner sees each member and each value that JSON.parse sees, in its order", () => {
  assert(
    property(jsonValue(), nat(3), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const parsed: unknown = JSON.parse(text);
      expect(walk(Buffer.from(text), () => 1_000_000).seen).toEqual(outline(parsed));
    }),
  );
});

test("b83: slices of any size see the same", () => {
  const hostile = array(string({ unit: "grapheme" }).map((part) => `${part}\\"\\\\${"\\".repeat(80)}"`));
  assert(
    property(jsonValue(), hostile, array(nat(70), { minLength: 1 }), (value, parts, sizes) => {
      const body = Buffer.from(JSON.stringify({ value, parts, long: parts.join("x".repeat(99)) }));
      let i = 0;
      const sliced = walk(body, () => 1 + (sizes[i++ % sizes.length] ?? 0));
      expect(sliced.seen).toEqual(walk(body, () => 1_000_000).seen);
    }),
  );
});

test("b83: what JSON.parse takes is never refused, and noise never ends in anything but a fault", () => {
  assert(
    property(uint8Array({ maxLength: 40 }), nat(30), (noise, at) => {
      const whole = Buffer.from('{"a":[1,{"b":"c\\"d"}],"e":null} ');
      const body = Buffer.concat([whole.subarray(0, at), noise, whole.subarray(at)]);
      let isFault = false;
      try {
        walk(body, () => 7);
      } catch (error) {
        isFault = error instanceof BodyFault;
        expect(error).toBeInstanceOf(BodyFault);
      }
      if (isFault) expect(() => JSON.parse(body.toString())).toThrow();
    }),
  );
});

test.each([["[1,]"], ['{"a":1,}'], ["[1 2]"], ['{"a" 1}'], ["{,}"], ["[}"], ['{"a":1]'], ["1 1"], ['"a'], [""]])(
  "b83: the text %s is refused",
  (text) => {
    expect(() => walk(Buffer.from(text), () => 1_000)).toThrow(BodyFault);
  },
);

test("b83: a body beyond a bound is refused, and one at it is not", () => {
  const scan = (text: string) => {
    const visitor = { open: () => undefined, member: () => undefined, scalar: () => {} };
    const scanner = new JsonScanner(Buffer.from(text), { values: 4, depth: 2 }, visitor, undefined);
    return scanner.run(1_000);
  };
  expect(scan('{"a":[1,2],"b":3}')).toBe(true);
  expect(() => scan('{"a":[1,2],"b":3,"c":4}')).toThrow("The body has more than 4 members and elements.");
  expect(() => scan("[[[1]]]")).toThrow("The body is nested more than 2 deep.");
});

test.each([
  ["white space", " ".repeat(100_000)],
  ["numbers", "1,".repeat(50_000)],
  ["one long number", "1".repeat(100_000)],
  ["strings", '"a",'.repeat(25_000)],
  ["escapes", `"${'\\"'.repeat(50_000)}",`],
  ["empty objects", "{},".repeat(33_000)],
])("b83: a slice of %s does its share and no more", (_, text) => {
  const body = Buffer.from(`[${text}1]`);
  expect(walk(body, () => 1_000).slices).toBeGreaterThan(body.length / 1_000 / 2);
});

test.each([...hostileBodies((NIGHTLY ? 8 : 2) << 20)])(
  "b83: %s: no slice holds the thread, and the end comes",
  async (_, body) => {
    const visitor: JsonVisitor<string> = { open: (context) => context, member: (object) => object, scalar: () => {} };
    await expectFairSlices(body, () => new JsonScanner(body, BOUNDS, visitor, ""));
  },
);
