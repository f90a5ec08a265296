import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Scope, scopeSet } from "../../../../domain/access/scopes.ts";
import { TOOLS } from "../../../../memory/mcp/protocol/server.ts";
import { mcpRoutes } from "../../../../memory/mcp/routes.ts";
import { type Harness, startHarness } from "../../../server/harness.ts";
import { ERAS, type Era } from "../messages.ts";

let server: Harness;
beforeAll(async () => {
  server = await startHarness({ mounts: [{ at: "", routes: mcpRoutes }] });
});
afterAll(() => server.close());

/** The instructions that a client gets once it has connected, with the names of the tools that it may call. */
async function instructionsFor(era: Era, scopes: readonly Scope[]): Promise<{ text: string; tools: string[] }> {
  const mode = era === "2025-11-25" ? "legacy" : { pin: era };
  const client = new Client({ name: "a-client", version: "1.0.0" }, { versionNegotiation: { mode } });
  const headers = { Authorization: `Bearer ${server.addKey({ scopes: scopeSet(scopes) })}` };
  const url = new URL(`${server.url}/api/v1/memory/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  const { tools } = await client.listTools();
  const text = client.getInstructions() ?? "";
  await client.close();
  return { text, tools: tools.map(({ name }) => name) };
}

const toolsIn = (text: string): string[] => [...new Set(text.match(/\bmemory_\w+/g))];

test.each(ERAS)("The instructions of %s teach when to search, recall, save, correct and forget", async (era) => {
  const { text } = await instructionsFor(era, ["memory:read", "memory:write"]);
  const taught = ["search", "recall", "save_atom", "correct_atom", "forget_atom"].map((name) => `memory_${name}`);
  expect(toolsIn(text)).toEqual(expect.arrayContaining(taught));
  expect(toolsIn(text).filter((name) => !TOOLS.has(name))).toEqual([]);
  // They are in every conversation.
  expect(text.length).toBeLessThan(1_500);
});

test.each<Scope>(["memory:read", "memory:write"])(
  "The instructions for a key of %s alone name no tool that it may not call",
  async (scope) => {
    for (const era of ERAS) {
      const { text, tools } = await instructionsFor(era, [scope]);
      expect(toolsIn(text)).not.toEqual([]);
      expect(toolsIn(text).filter((name) => !tools.includes(name))).toEqual([]);
    }
  },
);
