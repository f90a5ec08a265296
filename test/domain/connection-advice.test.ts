import { expect, it } from "vitest";
import { connectionAdvice } from "../../domain/connection-advice.ts";

const OTHERWISE = "see that it runs";
const failed = (cause: unknown) => new TypeError("fetch failed", { cause });
const coded = (code: string) => failed(Object.assign(new Error("why"), { code }));

it.each([
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /NODE_EXTRA_CA_CERTS$/],
  ["ERR_TLS_CERT_ALTNAME_INVALID", /^name the host in the URL/],
  ["CERT_HAS_EXPIRED", /^see this machine's clock/],
  ["ERR_SSL_WRONG_VERSION_NUMBER", /^no TLS is spoken there/],
  ["EAI_AGAIN", /^see the host's name/],
])("says what to do about %s", (code, advice) => {
  expect(connectionAdvice(coded(code), OTHERWISE)).toMatch(advice);
});

it("says what to do about a redirect, which has no code", () => {
  expect(connectionAdvice(failed(new Error("unexpected redirect")), OTHERWISE)).toMatch(/^it sends callers to another/);
});

it("says what its caller says where nothing is known of it", () => {
  for (const error of [coded("ECONNREFUSED"), failed(undefined), new Error("why"), "why"]) {
    expect(connectionAdvice(error, OTHERWISE)).toBe(OTHERWISE);
  }
});
