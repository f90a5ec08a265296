import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { mcpRoutes } from "../../../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../../../memory/rest/routes.ts";
import { memoryServer } from "../../../memory/memory-server.ts";

const opened = memoryServer(memoryRoutes, mcpRoutes);
const MCP = "/api/v1/memory/mcp";
const saving = (content: string) => ({
  ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
  params: { name: "memory_save_atom", arguments: { content } },
});

/** Sends a body as it stands, declared as JSON in this coding. */
async function send(path: string, coding: string, body: Uint8Array<ArrayBuffer> | string, method = "POST") {
  const answer = await fetch(opened().server.url + path, {
    method,
    body,
    headers: {
      authorization: `Bearer ${opened().key}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "content-encoding": coding,
    },
  });
  return {
    status: answer.status,
    headers: answer.headers,
    json: JSON.parse((await answer.text()).replace(/^event:.*\ndata: /, "")),
  };
}

async function storedContents(): Promise<string[]> {
  const { rows } = await sql<{ content: string }>`select content from atoms`.execute(opened().store.db);
  return rows.map(({ content }) => content);
}

const CODED: [string, (text: string) => Uint8Array<ArrayBuffer> | string][] = [
  ["gzip", (text) => new Uint8Array(gzipSync(text))],
  ["br", (text) => new Uint8Array(brotliCompressSync(text))],
  ["gzip", (text) => text],
  ["GZip", (text) => text],
  ["identity, deflate", (text) => text],
  ["unknown", (text) => text],
];
const BODIES: [string, string, object][] = [
  ["POST", "/atoms", { content: "New." }],
  ["POST", "/atoms/batch", { atoms: [{ content: "New." }] }],
  ["POST", "/atoms/import", { library: "diary", atoms: [{ content: "New." }] }],
  ["POST", MCP, saving("New.")],
];

test.each(BODIES)("b114: a body of %s %s in a coding is 415, says what to do, and nothing is stored", async (...of) => {
  const [method, path, body] = of;
  for (const [coding, coded] of CODED) {
    const { status, headers, json } = await send(path, coding, coded(JSON.stringify(body)), method);
    expect([coding, status, headers.get("accept-encoding")]).toEqual([coding, 415, "identity"]);
    const says = path === MCP ? json.error.message : json.detail;
    expect(says).toBe("Send the body as it is, without Content-Encoding: no coding is read here.");
    if (path === MCP) expect(json).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32_000 } });
    else expect(json).toMatchObject({ code: "unsupported_media_type", status: 415 });
  }
  expect(await storedContents()).toEqual([]);
});

test("b114: a change in a coding is 415, and the atom stays as it is", async () => {
  const { json: atom } = await opened().call("POST", "/atoms", { content: "Old." });
  const change = JSON.stringify({ id: atom.id, revision: atom.revision, content: "New." });
  for (const [coding, coded] of CODED) expect((await send("/atoms", coding, coded(change), "PATCH")).status).toBe(415);
  expect(await storedContents()).toEqual(["Old."]);
});

test.each(["identity", "Identity", "identity, identity"])(
  "b114: the coding %s is none: the body is read",
  async (coding) => {
    expect((await send("/atoms", coding, '{"content":"New."}')).status).toBe(201);
    expect((await send(MCP, coding, JSON.stringify(saving("Too.")))).status).toBe(200);
    expect((await storedContents()).sort()).toEqual(["New.", "Too."]);
  },
);

test("b114: a coding of no body refuses nothing, and comes behind the path and the key", async () => {
  const { json: atom } = await opened().call("POST", "/atoms", { content: "Old." });
  const headers = { authorization: `Bearer ${opened().key}`, "content-encoding": "gzip" };
  const ask = (path: string, init: RequestInit) => fetch(opened().server.url + path, { headers, ...init });
  expect((await ask("/atoms", {})).status).toBe(200);
  expect((await ask(`/atoms/${atom.id}`, { method: "DELETE" })).status).toBe(204);
  const keyless = { "content-type": "application/json", "content-encoding": "gzip" };
  expect((await ask("/nowhere", { method: "POST", body: "{}", headers: keyless })).status).toBe(404);
  expect((await ask("/atoms", { method: "POST", body: "{}", headers: keyless })).status).toBe(401);
});

test.each(["gzip, chunked", "deflate,chunked", "x, identity, chunked"])(
  "b114: a body that is transferred in the codings %s is 415, and nothing is stored",
  async (codings) => {
    const { server, key } = opened();
    const socket = connect(server.port, "127.0.0.1");
    const head = ["POST /atoms HTTP/1.1", "Host: x", `X-API-Key: ${key}`, "Content-Type: application/json"];
    socket.write([...head, `Transfer-Encoding: ${codings}`, "Connection: close", "", ""].join("\r\n"));
    socket.write('12\r\n{"content":"New."}\r\n0\r\n\r\n');
    const answer = await text(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 415 /);
    expect(answer).toContain("or with Transfer-Encoding: chunked alone");
    expect(await storedContents()).toEqual([]);
  },
);
