import { describe, expect, test } from "vitest";
import { createLog, type LogFields, redact } from "../../runtime/log.ts";
import { sampleLog } from "../../runtime/log-sampler.ts";
import { terminalLines } from "../../runtime/terminal-log.ts";
import { until } from "../env/until.ts";

function logged(fields: LogFields, message = "a message"): { text: string; line: Record<string, unknown> } {
  const lines: string[] = [];
  createLog("debug", { write: (text) => lines.push(text) }).info(fields, message);
  return { text: lines.join(""), line: JSON.parse(lines.join("")) };
}

test("a field that is not in the list is not written", () => {
  const smuggled = { keyId: "key_1", url: "/?key=inf_secret", headers: { authorization: "Bearer inf_secret" } };
  expect(logged(smuggled).line).toMatchObject({ keyId: "key_1", msg: "a message" });
  expect(logged(smuggled).text).not.toContain("inf_secret");
});

test("a line below the log's level is not written, and its error is not described", () => {
  const lines: string[] = [];
  let described = 0;
  const error = new Error("unseen");
  Object.defineProperty(error, "stack", { get: () => `${++described}` });
  const log = createLog("warn", { write: (text) => lines.push(text) });
  log.info({ error }, "a message");
  expect([lines.length, described]).toEqual([0, 0]);
  log.warn({ error }, "a message");
  expect([lines.length, described]).toEqual([1, 1]);
});

test("b80: a newline in a field stays within its record", () => {
  const { text, line } = logged({ route: '\n{"level":"info","msg":"forged"}' });
  expect(text.trimEnd()).not.toContain("\n");
  expect(line.msg).toBe("a message");
});

test("an error is logged by its class, code, frames and causes", () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });
  const { line } = logged({ error: new TypeError("relation atoms does not exist", { cause }) });
  expect(line.error).toMatchObject({
    name: "TypeError",
    message: "relation atoms does not exist",
    cause: { code: "ECONNREFUSED", message: "connect ECONNREFUSED 127.0.0.1:5432" },
  });
});

test("b97: the flood of one failure does not hide another of the same upstream, and its count names it", async () => {
  const lines: { error?: { code: string }; cause?: string; count?: number }[] = [];
  const log = sampleLog(createLog("debug", { write: (text) => lines.push(JSON.parse(text)) }), {
    ...{ maxAlike: 2, windowMs: 10 },
  });
  const coded = (code: string) => Object.assign(new Error(code), { code });
  const wrapped = new TypeError("fetch failed", { cause: coded("ENOTFOUND") });
  const about = { gatewayId: "gw_1", upstream: "openai", status: 502 };
  for (let i = 0; i < 5; i++) log.warn({ ...about, cause: "upstream_credential_refused" }, "an upstream failed");
  for (const error of [coded("ECONNREFUSED"), coded("CERT_HAS_EXPIRED"), wrapped]) {
    log.warn({ ...about, cause: "bad_gateway", error }, "an upstream failed");
  }
  expect(lines.map(({ error, cause }) => error?.code ?? cause)).toEqual([
    ...["upstream_credential_refused", "upstream_credential_refused"],
    ...["ECONNREFUSED", "CERT_HAS_EXPIRED", "bad_gateway"],
  ]);
  await until("the window is over", () => lines.some(({ count }) => count !== undefined));
  expect(lines.at(-1)).toMatchObject({ ...about, cause: "upstream_credential_refused", count: 3 });
});

describe("b79: a message loses what may be a secret", () => {
  test.each([
    "GET https://api.test/v1/models?key=s3cr3t failed",
    "header Authorization: Bearer s3cr3t was refused",
    "authorization: s3cr3t",
    '{"x-api-key":"s3cr3t"}',
    '{"password": "s3cr3t"}',
    "token=s3cr3t",
    "inf_s3cr3t",
    "sk-s3cr3t",
    "AIzaSyA0s3cr3tAAAAAAAAAAAA",
    "eyJhbGciOis3cr3tJIUzI1NiJ9.e30.c2ln",
  ])("%s", (message) => {
    expect(redact(message)).not.toContain("s3cr3t");
    expect(logged({ error: new Error(message) }).text).not.toContain("s3cr3t");
  });
});

describe("on a terminal", () => {
  /** What a person sees of one line. */
  function seen(fields: LogFields, message: string, hasColours = false): string {
    let text = "";
    const write = (more: string) => {
      text += more;
    };
    createLog("info", terminalLines({ hasColours }, write)).warn(fields, message);
    return text;
  }

  test("a line has the time, the level, what happened, why and about what, and no frames", () => {
    const error = new Error("it does not answer", { cause: new Error("connect ECONNREFUSED") });
    const line = seen({ error, gatewayId: "gw_1", count: 3 }, "a call failed");
    expect(line).toMatch(
      /^\d\d:\d\d:\d\d warn {2}a call failed: it does not answer: connect ECONNREFUSED {2}gatewayId=gw_1 {2}count=3\n$/,
    );
  });

  test("colours are shown where they are wanted, and nowhere else", () => {
    expect(seen({}, "hot", true)).toContain("\u001b[33mwarn ");
    expect(seen({}, "hot")).not.toContain("\u001b");
  });

  test("b80: what would move the cursor or begin another line is written out", () => {
    const line = seen({ route: "\r\n12:00:00 info  forged\u001b[2J" }, "one\u2028two\u202e");
    expect(line).toMatch(
      /one\\u\{2028\}two\\u\{202e\} {2}route=\\u\{d\}\\u\{a\}12:00:00 info {2}forged\\u\{1b\}\[2J\n$/,
    );
    for (const forbidden of ["\r", "\u001b"]) expect(line).not.toContain(forbidden);
  });
});
