import { describe, expect, test } from "vitest";
import { createLog, type LogFields, redact } from "../../runtime/log.ts";

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

test("b80: a newline in a field stays within its record", () => {
  const { text, line } = logged({ route: '\n{"level":"info","msg":"forged"}' });
  expect(text.trimEnd()).not.toContain("\n");
  expect(line.msg).toBe("a message");
});

test("an error is told by its class, code, frames and causes", () => {
  const cause = Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:5432"), { code: "ECONNREFUSED" });
  const { line } = logged({ error: new TypeError("relation atoms does not exist", { cause }) });
  expect(line.error).toMatchObject({
    name: "TypeError",
    message: "relation atoms does not exist",
    cause: { code: "ECONNREFUSED", message: "connect ECONNREFUSED 127.0.0.1:5432" },
  });
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
