import { expect, test } from "vitest";
import { requestsWithin } from "../../../../domain/usage/advice/key-use.ts";
import { useOf } from "./uses.ts";

test("requests are added up by what let them through", () => {
  const use = useOf({}, { "memory:read": 3, "memory:*": 2, "gateway:embed": 10 });
  expect(requestsWithin(use, ["memory:read", "memory:write", "memory:*"])).toBe(5);
});
