import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { RoutePlugin } from "../../../../server/app.ts";
import { PROBLEMS } from "../../../../server/http/problems/catalogue.ts";
import { problem } from "../../../../server/http/problems/problem.ts";
import {
  DatabaseUnavailableError,
  DISK_FULL,
  MemoryBusyError,
  MemoryTimeoutError,
} from "../../../../store/database/errors.ts";
import { examples } from "../../../env/nightly.ts";
import { type Harness, startHarness } from "../../harness.ts";
import { requestHead, sendRaw } from "../../raw-http.ts";

const SECRET = "sk-proj-9f8e7d6c5b4a39281706f5e4d3c2b1a0";
/** Of the store. */
const FAULTS: Readonly<Record<string, Error>> = {
  away: new DatabaseUnavailableError("the database does not answer"),
  team: new MemoryBusyError("team"),
  all: new MemoryBusyError("all"),
  late: new MemoryTimeoutError("it took too long"),
};
let validated = 0;
let handled = 0;

const routes: RoutePlugin = (app) => {
  app.get("/throws", { config: { operation: "atoms.list" } }, async () => {
    const cause = new Error(`connect to https://api.test/v1?key=${SECRET} with Authorization: Bearer ${SECRET} failed`);
    throw new Error(`upstream said: ${SECRET}`, { cause });
  });
  app.get("/throws-text", { config: { operation: "atoms.list" } }, async () => {
    throw SECRET;
  });
  app.get("/poses", { config: { operation: "atoms.list" } }, async () => {
    throw Object.assign(new Error(`no such row: ${SECRET}`), { statusCode: 404, code: "42P01" });
  });
  app.get("/asks-the-database", { config: { operation: "atoms.list" } }, async () => {
    throw new DatabaseUnavailableError(`the database does not answer: ${SECRET}`);
  });
  for (const method of ["GET", "POST"]) {
    app.route<{ Querystring: { of: string } }>({
      method,
      url: "/has-a-fault",
      config: { operation: "atoms.list" },
      handler: async ({ query }) => {
        throw FAULTS[query.of];
      },
    });
    app.route({
      method,
      url: "/finds-no-room",
      config: { operation: "atoms.list" },
      handler: async () => {
        throw Object.assign(new Error(`no room for ${SECRET}`), { code: DISK_FULL });
      },
    });
  }
  app.get("/says", { config: { operation: "atoms.list" } }, async () => {
    throw problem("conflict", "The atom is at revision 3.", { "x-revision": "3" });
  });
  app.post(
    "/atoms",
    {
      config: { operation: "atoms.create" },
      schema: { body: { type: "object", required: ["content"], properties: { content: { type: "string" } } } },
      validatorCompiler: () => (body) => {
        validated++;
        return typeof body === "object" && body !== null && "content" in body
          ? { value: body }
          : { error: new Error("no") };
      },
    },
    async () => {
      handled++;
      return {};
    },
  );
};

let harness: Harness;
let key: string;
beforeAll(async () => {
  harness = await startHarness({ mounts: [{ at: "", routes }] });
});
beforeEach(() => {
  harness.setCurrent(true);
  harness.lines.length = 0;
  key = harness.addKey();
});
afterAll(() => harness.close());

const get = (path: string) => fetch(harness.url + path, { headers: { "x-api-key": key } });

describe("b79: what is thrown inside is never shown", () => {
  test.each(["/throws", "/throws-text", "/poses"])("%s", async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(500);
    expect(await answer.json()).toEqual({
      type: "urn:keyplane:problem:internal",
      status: 500,
      code: "internal",
      title: PROBLEMS.internal.title,
      detail: PROBLEMS.internal.detail,
      requestId: answer.headers.get("x-keyplane-request-id"),
    });
    expect(harness.lines).toHaveLength(1);
    expect(harness.lines.join("")).toContain(path);
    expect(harness.lines.join("")).not.toContain(SECRET.slice(8, 20));
  });
});

test("while the view of the keys is not current, the answer says so", async () => {
  harness.setCurrent(false);
  const answer = await get("/says");
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({
    detail: "This replica cannot prove at present that its view of the keys is current: try again.",
  });
});

describe("what the database cannot do now is said to the caller:", () => {
  test.each([
    ["GET", "away", 503, "The database does not answer: try again."],
    [
      "POST",
      "away",
      503,
      "The database does not answer. The change may have been made all the same: read what is there now, or send the same request again.",
    ],
    ["GET", "team", 429, "The team has too many calls of the memory under way: try again later."],
    ["GET", "all", 503, "The memory has more to do than it can: try again later."],
    [
      "GET",
      "late",
      503,
      "The database took too long, and the call was stopped: try again, or search for less or for rarer words.",
    ],
    [
      "POST",
      "late",
      503,
      "The database took too long, and the call was stopped: the change may have been made all the same. Read what is there now.",
    ],
  ])("%s, %s", async (method, fault, status, detail) => {
    const answer = await fetch(`${harness.url}/has-a-fault?of=${fault}`, { method, headers: { "x-api-key": key } });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ detail });
  });
});

test.each(["GET", "POST"])(
  "c37: a memory that took too long sends its caller elsewhere, %s: its database may have stopped",
  async (method) => {
    const answer = await fetch(`${harness.url}/has-a-fault?of=late`, { method, headers: { "x-api-key": key } });
    expect(answer.headers.get("connection")).toBe("close");
  },
);

test("c37: what needs the database is 503 while it is away, to be tried again", async () => {
  const answer = await get("/asks-the-database");
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await answer.text()).not.toContain(SECRET);
});

test("c62: a full disk of the database is 507 to a write and a failure of ours to a read, and is in the log for both", async () => {
  const answers = await Promise.all(
    ["POST", "GET"].map((method) => fetch(`${harness.url}/finds-no-room`, { method, headers: { "x-api-key": key } })),
  );
  expect(answers.map(({ status }) => status)).toEqual([507, 500]);
  expect(harness.lines).toHaveLength(2);
  for (const line of harness.lines) {
    expect(line).toContain(DISK_FULL);
    expect(line).not.toContain(SECRET.slice(8, 20));
  }
});

test("a problem is a document of RFC 9457, with its own detail and headers", async () => {
  const answer = await get("/says");
  expect(answer.headers.get("content-type")).toMatch(/^application\/problem\+json/);
  expect(answer.headers.get("x-revision")).toBe("3");
  expect(await answer.json()).toEqual({
    type: "urn:keyplane:problem:conflict",
    title: "Conflict",
    status: 409,
    code: "conflict",
    detail: "The atom is at revision 3.",
    requestId: answer.headers.get("x-keyplane-request-id"),
  });
  expect(harness.lines).toEqual([]);
});

test("what is no HTTP, and a URL that cannot be decoded, get a problem that echoes nothing", async () => {
  const bytes = [
    `${SECRET} / HTTP/1.1\r\n\r\n`,
    requestHead(`GET /%zz${SECRET} HTTP/1.1`),
    requestHead(`GET /${"a".repeat(20_000)} HTTP/1.1`),
  ];
  const statuses = [];
  for (const text of bytes) {
    const answer = await sendRaw(harness.port, text);
    statuses.push(answer.status);
    expect(answer.head).toMatch(/application\/problem\+json/);
    expect(JSON.parse(answer.body)).toMatchObject({ status: answer.status });
    expect(answer.text).not.toContain(SECRET);
  }
  expect(statuses).toEqual([400, 400, 431]);
  expect(harness.lines).toEqual([]);
});

describe("b45: a body is validated, or it is refused", () => {
  const send = (contentType: string, body: string) =>
    harness.app.inject({
      method: "POST",
      url: "/atoms",
      headers: { "x-api-key": key, "content-type": contentType },
      body,
    });

  test("whatever the Content-Type is changed to, the handler runs only after the validator", async () => {
    const part = fc.constantFrom(
      "application",
      "/",
      "json",
      ";",
      " ",
      "\t",
      "charset=utf-8",
      "+json",
      "text",
      "plain",
      "A",
      ",",
      "x",
    );
    const type = fc.oneof(
      fc.constantFrom(
        "application/json\ta",
        " application/json",
        "application/json garbage",
        "APPLICATION/JSON ; a=x",
        "text/plain",
      ),
      fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("")),
      fc.string({ unit: fc.constantFrom(...'aplictonjs/;+ \t,=*"') }).map((text) => `application/json${text}`),
    );
    await fc.assert(
      fc.asyncProperty(type, fc.boolean(), async (contentType, isValid) => {
        validated = handled = 0;
        const { statusCode } = await send(contentType, isValid ? '{"content":"x"}' : '{"other":1}');
        expect([200, 400, 415]).toContain(statusCode);
        expect(handled).toBe(statusCode === 200 ? 1 : 0);
        if (handled > 0) expect(validated).toBe(1);
        if (!isValid) expect(handled).toBe(0);
        if (statusCode === 200) expect(contentType.trim().toLowerCase()).toMatch(/^application\/json/);
      }),
      { numRuns: examples(300) },
    );
  });

  test("a POST that is not JSON is 415, one that says so and is not is 400, and too long a one 413", async () => {
    expect((await send("text/plain", "hello")).statusCode).toBe(415);
    expect((await send("application/json", "{")).statusCode).toBe(400);
    expect((await send("application/json", '{"__proto__":{"content":1}}')).statusCode).toBe(400);
    expect((await send("application/json", `"${"x".repeat(1 << 20)}"`)).statusCode).toBe(413);
  });
});
