/** docs/clients.md, as far as npm alone goes: its programs in TypeScript, and the files of editors that are not here. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Ajv, type AnySchema } from "ajv";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { ROOT, read } from "../architecture/sources.ts";
import { type ClientsPage, openClientsPage } from "./clients-page.ts";
import { isInstalled, modelClients, OWN_VERSIONS } from "./model-clients.ts";
import { expectedOf } from "./tried-models.ts";

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
  Windsurf: object({
    mcpServers: object({
      keyplane: object({
        serverUrl: URL_OF_MCP,
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

  it("declares a key whose mcp.json has a client list the tools", async () => {
    await page.follow("mcp.json in two minutes");
    const { mcpServers } = JSON.parse(page.secret("research", "my-agent", "mcp.json"));
    const { url, headers } = mcpServers.memory;
    const client = new Client({ name: "my-agent", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    expect((await client.listTools()).tools).toHaveLength(9);
    await client.close();
  });

  it("names a client's variable in its table as in its file", () => {
    const rows = page
      .section("mcp.json in two minutes")
      .matchAll(/^\| \[([^\]]+)\]\(#.*\| `([^`]*KEYPLANE_API_KEY[^`]*)`/gm);
    const named = [...rows].map(([, client = "", variable = ""]) => ({ client, variable }));
    expect(named).toHaveLength(7);
    expect(named.filter(({ client, variable }) => !page.section(client).includes(variable))).toEqual([]);
  });

  it("shows the variables that keyplane env prints", async () => {
    const path = mkdtempSync(join(tmpdir(), "keyplane-path-"));
    onTestFinished(() => rmSync(path, { recursive: true }));
    writeFileSync(join(path, "keyplane"), `#!/bin/sh\nexec node ${join(ROOT, "cli/main.ts")} "$@"\n`, { mode: 0o755 });
    await page.follow("Variables", { path });
  });

  it.each(modelClients().filter(isInstalled))(
    "has base URLs with which $title does all of its operations",
    async ({ program, rows }) => {
      for (const row of rows) {
        const tried = await page.tryModels(program, row, { modules: join(ROOT, "node_modules") });
        expect(tried, row.name).toEqual(expectedOf(program, row));
      }
    },
  );

  it("says of each client of models when it is tried", () => {
    expect(new Set(modelClients().map(({ tried }) => tried))).toEqual(new Set(["with each change", "each night"]));
  });

  it("names one version of each package", () => {
    const named = [...read("docs/clients.md").matchAll(/`(@?[\w./-]+)(?:@|==)(\d[\w.]*)`/g)];
    const versions = new Map<string, string>();
    for (const [text, name = "", version = ""] of named) {
      const one = `${name}${text.includes("==") ? " in Python" : ""}`;
      expect(version, one).toBe(versions.get(one) ?? OWN_VERSIONS[one] ?? version);
      versions.set(one, version);
    }
    expect(versions.size).toBeGreaterThan(20);
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

  it("has Zed start what Claude Desktop starts", () => {
    const { mcpServers } = fileOf("Claude Desktop") as { mcpServers: unknown };
    expect(fileOf("Zed, Cline and JetBrains")).toEqual({ context_servers: mcpServers });
  });

  it("has a file for Goose of the form that it reads", () => {
    const [, text = ""] = /```yaml\n([\s\S]*?)```/.exec(page.section("Goose")) ?? [];
    const ajv = new Ajv({ strict: true });
    const schema = object({
      extensions: object({
        keyplane: object({
          type: { const: "streamable_http" },
          name: { const: "keyplane" },
          enabled: { const: true },
          uri: URL_OF_MCP,
          timeout: { type: "integer" },
          env_keys: { const: ["KEYPLANE_API_KEY"] },
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
          headers: object({ Authorization: { const: "Bearer ${KEYPLANE_API_KEY}" } }),
        }),
      }),
    });
    expect(ajv.validate(schema, parse(text)), ajv.errorsText()).toBe(true);
  });
});
