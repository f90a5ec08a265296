import { expect, test } from "vitest";
import { checkIfMatch, etagOf } from "../../../server/management/preconditions.ts";

const MADE_BY_PROXIES: readonly ((tag: string) => string)[] = [
  (tag) => tag,
  (tag) => `W/${tag}`,
  (tag) => tag.replace(/"$/, '-gzip"'),
  (tag) => `W/${tag.replace(/"$/, '-br"')}`,
  (tag) => tag.replace(/"$/, '--zstd"'),
];

test("an entity tag is known again in every form that a compressing proxy gives it, whatever its last character", () => {
  for (let i = 0; i < 500; i++) {
    const object = { id: `key-${i}`, spec: { displayName: "b" } };
    const changed = { ...object, spec: { displayName: "c" } };
    for (const asProxied of MADE_BY_PROXIES) {
      const tag = asProxied(etagOf(object));
      expect(() => checkIfMatch(tag, object), tag).not.toThrow();
      expect(() => checkIfMatch(tag, changed), tag).toThrow("Precondition failed");
    }
  }
});
