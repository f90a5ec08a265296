import { expect, test } from "vitest";
import { declareKey } from "../../../../domain/key/fields/declare-key.ts";
import { key, storedSpec } from "../../manifest/read.ts";

test("c63: an end that was declared before admission refused it is the nearest that every engine keeps", () => {
  const spec = storedSpec(key("{ preset: MCPReadOnly }"));
  const endOf = (expiresAt: string) => {
    const end = declareKey("team-a", "a", { ...spec, expiresAt } as Parameters<typeof declareKey>[2]).expiresAt;
    return end && new Date(end).toISOString();
  };
  expect(endOf("0000-06-01T00:00:00Z")).toBe("0001-01-01T00:00:00.000Z");
  expect(endOf("9999-12-31T23:59:59-00:01")).toBe("9999-12-31T23:59:59.000Z");
  expect(endOf("2027-01-31T00:00:00Z")).toBe("2027-01-31T00:00:00.000Z");
});
