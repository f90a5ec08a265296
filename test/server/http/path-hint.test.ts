import { expect, test } from "vitest";
import { pathHint } from "../../../server/http/path-hint.ts";

test.each([
  ["/v1/chat/completions", "/g/<public id>/v1"],
  ["/v1/models?key=x", "/g/<public id>/v1"],
  ["/v1beta/models/m:generateContent", "/g/<public id>"],
  ["/chat/completions", "/g/<public id>/v1"],
  ["/openai/v1/responses", "/g/<public id>/v1"],
  ["/v1/messages", "/g/<public id>"],
  ["/mcp", "/api/v1/memory/mcp"],
  ["/memory/mcp", "/api/v1/memory/mcp"],
  ["/sse", "/api/v1/memory/mcp"],
  ["/api/v1/memory/mcp/sse", "/api/v1/memory/mcp"],
  ["/api/v1/memory/sse", "/api/v1/memory/mcp"],
  ["/api/v1/chat/completions", "/g/<public id>/v1"],
  ["/research-main/v1/chat/completions", "/g/<public id>/v1"],
  ["//g/research-main/v1/messages", "/g/<public id>"],
  ["/memory/atoms", "at /atoms"],
  ["/api/v1/atoms/search?q=x", "at /atoms"],
  ["/v1/atoms", "at /atoms"],
])("%s names the place where this is served", (path, place) => {
  expect(pathHint(path)).toContain(place);
});

test.each(["/", "/favicon.ico", "/v1x", "/mcpx", "/atomsx", "/.env", "/api/v1/nothing"])("%s is nothing", (path) => {
  expect(pathHint(path)).toBe("There is nothing at this path. The page at / has the addresses of all that is served.");
});
