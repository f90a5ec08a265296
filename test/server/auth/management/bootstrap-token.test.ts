import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { tokenFault } from "../../../../server/auth/management/file-token.ts";

test("a bootstrap token of 32 random characters is taken, in whatever alphabet", () => {
  for (let i = 0; i < 10_000; i++) {
    const bytes = randomBytes(24);
    for (const token of [bytes.toString("base64"), bytes.toString("hex").slice(0, 32)]) {
      expect(tokenFault(token)).toBeUndefined();
    }
  }
});

test.each([
  ["one that is too short", randomBytes(12).toString("base64").slice(0, 31), /at least 32 random ones/],
  ["none", "", /at least 32 random ones/],
  ["one character again and again", "a".repeat(64), /no random token/],
  ["a word again and again", "changeme-changeme-changeme-changeme", /no random token/],
  ["few characters", "abbabaabbaababbabaababbaabbabaab", /no random token/],
  ["a row of the alphabet", "abcdefghijklmnopqrstuvwxyz0123456789", /no random token/],
  ["an API key", `inf_${"x9".repeat(28)}`, /holds an API key/],
  ["two words", `${randomBytes(24).toString("hex")} ${randomBytes(24).toString("hex")}`, /one word/],
])("as a bootstrap token %s is refused", (_what, token, says) => {
  expect(tokenFault(token)).toMatch(says);
});
