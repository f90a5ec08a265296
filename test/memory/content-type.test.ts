import { connect } from "node:net";
import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { mcpRoutes } from "../../memory/mcp/routes.ts";
import { memoryRoutes } from "../../memory/rest/routes.ts";
import { examples } from "../env/nightly.ts";
import { memoryServer } from "./memory-server.ts";

const opened = memoryServer(memoryRoutes, mcpRoutes);

/** Sends the header lines as they are, which no client library would, and gives the answer's status. */
function post(contentTypeLines: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(opened().server.port, "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(Number(answer.slice(9, 12))));
    socket.write(
      `POST /atoms HTTP/1.1\r\nHost: x\r\nX-API-Key: ${opened().key}\r\nConnection: close\r\n${contentTypeLines}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      "latin1",
    );
  });
}

async function atomCount(): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::integer as n from atoms`.execute(opened().store.db);
  return rows[0]?.n ?? -1;
}

const FORBIDDEN = '{"content":"x","teamId":"team-b"}';
const PIECES = [
  "application/json",
  "Application/JSON",
  "text/plain",
  " ",
  "\t",
  ";",
  ",",
  "garbage",
  "\x85",
  '"',
  "charset=utf-8",
  "=",
  "/",
  "+json",
  "\x00",
  "multipart/form-data",
  "boundary=x",
];

test.each([
  "application/json\ta",
  "application/json garbage",
  "application/json, text/plain",
  "application/jsonx",
  "application/vnd.api+json",
  "text/plain",
  "text/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/json; charset=iso-8859-1",
  "",
])("b45: Content-Type %j is 415, and nothing is stored", async (type) => {
  const before = await atomCount();
  expect(await post(`Content-Type: ${type}\r\n`, '{"content":"x"}')).toBe(415);
  expect(await post(`Content-Type: ${type}\r\n`, FORBIDDEN)).toBe(415);
  expect(await atomCount()).toBe(before);
});

test("b45: no Content-Type at all is 415", async () => {
  expect(await post("", FORBIDDEN)).toBe(415);
  expect(await post("", "")).toBe(415);
});

test.each(["application/json", " application/json", "APPLICATION/JSON ; a=x", "application/json;charset=utf-8"])(
  "b45: Content-Type %j is validated as JSON",
  async (type) => {
    expect(await post(`Content-Type: ${type}\r\n`, FORBIDDEN)).toBe(400);
    expect(await post(`Content-Type: ${type}\r\n`, '{"content":"x"}')).toBe(201);
  },
);

const ATOM = { content: "Größe fünf" };
const SAVE = { name: "memory_save_atom", arguments: ATOM };

test.each([
  ["POST", "/atoms", ATOM],
  ["POST", "/atoms/batch", { atoms: [ATOM] }],
  ["POST", "/atoms/import", { atoms: [ATOM] }],
  ["POST", "/atoms/extract", { messages: [{ role: "user", ...ATOM }] }],
  ["PATCH", "/atoms", { id: "a", revision: 1, ...ATOM }],
  ["POST", "/api/v1/memory/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: SAVE }],
])("b307: %s %s in Latin-1 is 400, or 415 where it says so, and nothing is stored", async (method, path, body) => {
  const statuses: number[] = [];
  for (const type of ["application/json", "application/json; charset=utf-8", "application/json; charset=iso-8859-1"]) {
    const answer = await fetch(opened().server.url + path, {
      method,
      headers: {
        ...{ "x-api-key": opened().key, "content-type": type },
        accept: "application/json, text/event-stream",
      },
      body: Buffer.from(JSON.stringify(body), "latin1"),
    });
    statuses.push(answer.status);
  }
  expect([statuses, await atomCount()]).toEqual([[400, 400, 415], 0]);
});

test("b45: whatever the Content-Type, what the validator refuses never reaches the handler", async () => {
  const before = await atomCount();
  const type = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ maxLength: 3 })), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom("", "application/json"), type, async (start, rest) => {
      const value = `${start}${rest.join("")}`.replace(/[\r\n]/g, "");
      expect([400, 415]).toContain(await post(`Content-Type: ${value}\r\n`, FORBIDDEN));
    }),
    { numRuns: examples(100) },
  );
  expect(await atomCount()).toBe(before);
});
