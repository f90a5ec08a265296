import { expect, test } from "vitest";
import { checkIfMatch, etagOf } from "../../../server/management/preconditions.ts";
import { examples } from "../../env/nightly.ts";

const MADE_BY_PROXIES: readonly ((tag: string) => string)[] = [
  (tag) => tag,
  (tag) => `W/${tag}`,
  (tag) => tag.replace(/"$/, '-gzip"'),
  (tag) => `W/${tag.replace(/"$/, '-br"')}`,
  (tag) => tag.replace(/"$/, '--zstd"'),
];

test("an entity tag is known again in every form that a compressing proxy gives it, whatever its last character", () => {
  for (let i = 0; i < examples(100); i++) {
    const object = { id: `key-${i}`, spec: { displayName: "b" } };
    const changed = { ...object, spec: { displayName: "c" } };
    for (const asProxied of MADE_BY_PROXIES) {
      const tag = asProxied(etagOf(object));
      expect(() => checkIfMatch(tag, object), tag).not.toThrow();
      expect(() => checkIfMatch(tag, changed), tag).toThrow("Precondition failed");
    }
  }
});

/** The quickest of a few refusals, in milliseconds. */
function timeOf(ifMatch: string): number {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now();
    expect(() => checkIfMatch(ifMatch, { id: "key", spec: {} })).toThrow("Precondition failed");
    return performance.now() - start;
  });
  return Math.min(...times);
}

test.each(["-", "-gzip", "W/", '"-', '"-,', "a-"])(
  "b360: an If-Match of many %s takes about as long as any other",
  (piece) => {
    const hostile = piece.repeat(15_000 / piece.length);
    // One that is read again from each hyphen takes ten thousand times as long.
    expect(timeOf(`"${hostile}`) / timeOf(`"${"x".repeat(hostile.length)}`)).toBeLessThan(200);
  },
);
