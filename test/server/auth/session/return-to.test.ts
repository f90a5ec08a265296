import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { mintKey } from "../../../../domain/key/secret/key-format.ts";
import { localPage } from "../../../../server/auth/session/return-to.ts";

const HOME = "/dashboard/";

test.each([
  ...["//evil.test", "/\\evil.test", "\\\\evil.test", "https://evil.test/dashboard/", "javascript:alert(1)"],
  ...["/dashboard/..//evil.test", "/dashboard/../api/v1/keys", "/dashboardevil", "/dashboard@evil.test", ""],
  ...["/dashboard/\n/evil", "/dashboard/%2e%2e/api/v1/keys", "/dashboard/sign-in?link=x", "/atoms"],
  ...["/dashboard/%73ign-in?link=x", "/dashboard/./sign-in", `/dashboard/keys?q=${mintKey(randomBytes)}`],
  ...["%5F", "%255f"].map((line) => `/dashboard/keys?q=${mintKey(randomBytes).replace("_", line)}`),
  ...[`/dashboard/${"x".repeat(3_000)}`, `/dashboard/keys?q=${'"'.repeat(2_000)}`],
])("b78: the page to return to is the first of the console's in place of %j", (text) => {
  expect(localPage(text)).toBe(HOME);
});

test("the page to return to is the first of the console's where none is asked for", () => {
  expect(localPage(undefined)).toBe(HOME);
});

test.each([
  ["/dashboard", "/dashboard"],
  ["/dashboard/", "/dashboard/"],
  ["/dashboard?x=1", "/dashboard?x=1"],
  ["/dashboard/keys?q=a%20b&order=newest", "/dashboard/keys?q=a%20b&order=newest"],
  ["/dashboard/keys/../audit", "/dashboard/audit"],
  [`/dashboard/${"x".repeat(2_037)}`, `/dashboard/${"x".repeat(2_037)}`],
])("the page to return to is the one of the console that is asked for: %s", (text, page) => {
  expect(localPage(text)).toBe(page);
});
