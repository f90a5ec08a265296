import { expect, test } from "vitest";
import { withSingleTypes } from "../../../server/openapi/single-types.ts";

test("A schema of several types has a branch for each, with what is said of that type, wherever it stands", () => {
  const source = { type: ["string", "null"], maxLength: 5, description: "Where it comes from." };
  const single = { anyOf: [{ type: "string", maxLength: 5 }, { type: "null" }], description: "Where it comes from." };
  expect(withSingleTypes({ type: "object", properties: { source }, required: ["source"] })).toEqual({
    ...{ type: "object", properties: { source: single }, required: ["source"] },
  });
  expect(withSingleTypes({ type: "array", items: source, maxItems: 2 })).toEqual({
    ...{ type: "array", items: single, maxItems: 2 },
  });
});

test("A schema of one type stays as it is", () => {
  const schema = { type: "object", properties: { type: { type: "string", enum: ["a", "b"] } }, required: ["type"] };
  expect(withSingleTypes(schema)).toEqual(schema);
});
