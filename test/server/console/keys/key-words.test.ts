import { expect, test } from "vitest";
import { scopesText } from "../../../../server/console/keys/key-words.ts";

test.each([
  ["MCPReadWrite", ["memory:write", "memory:read"]],
  ["gateway:generate, memory:read", ["gateway:generate", "memory:read"]],
])("the scopes of a key are said as %s", (said, scopes) => {
  expect(scopesText({ scopes })).toBe(said);
});
