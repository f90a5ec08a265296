/** docs/clients.md, as far as npm alone goes: its programs in TypeScript, and the files of editors that are not here. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv, type AnySchema } from "ajv";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ROOT } from "../architecture/sources.ts";
import { type ClientsPage, openClientsPage } from "./clients-page.ts";

let page: ClientsPage;
beforeAll(async () => {
  page = await openClientsPage();
});
afterAll(() => page.close());

/** The one file in JSON that a section shows. */
function fileOf(heading: string): unknown {
  const [, text = "", ...more] = page.section(heading).split(/```json\n([\s\S]*?)```/);
  expect(more).toHaveLength(1);
  return JSON.parse(text);
}

const URL_OF_MCP = { type: "string", pattern: "^http://127\\.0\\.0\\.1:\\d+/api/v1/memory/mcp$" };

/** What a reader's file may say, each as its program's own pages have it; `headers` hold no key. */
const FILES: Readonly<Record<string, AnySchema>> = {
  "VS Code": {
    ...object({
      inputs: {
        type: "array",
        items: object({
          type: { const: "promptString" },
          id: { const: "keyplane-api-key" },
          description: { type: "string" },
          password: { const: true },
        }),
      },
      servers: object({
        keyplane: object({
          type: { const: "http" },
          url: URL_OF_MCP,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
          headers: object({ Authorization: { const: "Bearer ${input:keyplane-api-key}" } }),
        }),
      }),
    }),
  },
  Cursor: object({
    mcpServers: object({
      keyplane: object({
        url: URL_OF_MCP,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
        headers: object({ Authorization: { const: "Bearer ${env:KEYPLANE_API_KEY}" } }),
      }),
    }),
  }),
  "Gemini CLI": object({
    mcpServers: object({
      keyplane: object({
        httpUrl: URL_OF_MCP,
        headers: object({ Authorization: { const: "Bearer $KEYPLANE_API_KEY" } }),
      }),
    }),
  }),
};

function object(properties: Readonly<Record<string, unknown>>) {
  return { type: "object", additionalProperties: false, required: Object.keys(properties), properties };
}

describe("docs/clients.md", () => {
  it("has programs in TypeScript that do what it says", async () => {
    await page.follow("TypeScript", { modules: join(ROOT, "node_modules") });
  });

  it("shows the variables that keyplane env prints", async () => {
    const path = mkdtempSync(join(tmpdir(), "keyplane-path-"));
    onTestFinished(() => rmSync(path, { recursive: true }));
    writeFileSync(join(path, "keyplane"), `#!/bin/sh\nexec node ${join(ROOT, "cli/main.ts")} "$@"\n`, { mode: 0o755 });
    await page.follow("Variables", { path });
  });

  it.each(Object.entries(FILES))("has a file for %s of the form that it reads", (heading, schema) => {
    const ajv = new Ajv({ strict: true });
    expect(ajv.validate(schema, fileOf(heading)), ajv.errorsText()).toBe(true);
  });

  it("has a file for Claude Desktop of the form that it reads", () => {
    const entry = object({ command: { type: "string" }, args: { type: "array", items: { type: "string" } } });
    const ajv = new Ajv({ strict: true });
    const schema = object({ mcpServers: object({ keyplane: entry }) });
    expect(ajv.validate(schema, fileOf("Claude Desktop")), ajv.errorsText()).toBe(true);
  });
});
