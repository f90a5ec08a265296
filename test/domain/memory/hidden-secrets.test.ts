import { expect, test } from "vitest";
import { hideSecrets } from "../../../domain/memory/hidden-secrets.ts";

/** Put together here, so that no scanner takes this file for a leak. */
const parts = (...text: string[]) => text.join("");

test.each([
  parts("inf_", "0123456789abcdef"),
  parts("sk-", "proj-0123456789abcdefghij"),
  parts("sk-ant-", "api03-0123456789abcdefghij"),
  parts("ghp_", "0123456789abcdefghijklmnopqrstuvwxyz"),
  parts("xoxb-", "0123456789-abcdefghij"),
  parts("AKIA", "ABCDEFGHIJKLMNOP"),
  parts("AIza", "0123456789abcdefghijklmnopqrstuvwxy"),
  parts("eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiIxMjM0NTY3ODkwIn0.", "abcdefghijklmnop"),
  parts("-----BEGIN PRIVATE", " KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE", " KEY-----"),
])("%s is hidden, and what stands around it is not", (secret) => {
  const shown = hideSecrets(`Use ${secret} for staging.`);
  expect(shown).toMatch(/^Use (?:\[secret\]|inf_\.\.\.) for staging\.$/);
});

test.each([
  ["password: hunter22", "password: [secret]"],
  ['"api_key": "abcdef"', '"api_key": [secret]'],
  ["CLIENT_SECRET=abcdef", "CLIENT_SECRET=[secret]"],
  ["Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [secret]"],
  ["postgres://app:hunter22@db/app", "postgres://app:[secret]@db/app"],
])("%s is %s", (text, shown) => {
  expect(hideSecrets(text)).toBe(shown);
});

test("what is no secret stays", () => {
  const text = "The task-list of the risk team: passwords are rotated in May, see https://example.com:8080/a@b.";
  expect(hideSecrets(text)).toBe(text);
});

test("a long text takes no time, whatever it is made of", () => {
  for (const piece of [
    "sk-a-",
    "-----BEGIN PRIVATE KEY-----",
    "password: ",
    "://a:",
    "Bearer ",
    "eyJaaaaaaaaaa.",
    "aB3-",
  ]) {
    const begun = performance.now();
    hideSecrets(piece.repeat(Math.ceil(1_000_000 / piece.length)));
    expect(performance.now() - begun, piece).toBeLessThan(1_000);
  }
});
