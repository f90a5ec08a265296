import { afterEach, beforeAll, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { createLogoutValidator } from "../../../../server/auth/session/logout-token.ts";
import { createJwtValidator } from "../../../../server/auth/tokens/jwt.ts";
import { testClock } from "../../harness.ts";
import { type Issuer, makeSigner, type Signer, sign, startIssuer } from "../../management/issuer.ts";

let issuer: Issuer;
let signer: Signer;
let stranger: Signer;
let verified: MockInstance;
beforeAll(async () => {
  [signer, stranger] = await Promise.all([makeSigner("first"), makeSigner("first")]);
});
beforeEach(async () => {
  issuer = await startIssuer();
  issuer.keys = [signer.jwk];
  verified = vi.spyOn(crypto.subtle, "verify");
});
afterEach(() => {
  verified.mockRestore();
  issuer.close();
});

/** A judge of tokens, as the memory and the management API have it. */
function judge() {
  const clock = testClock();
  const validateJwt = createJwtValidator({ issuers: [issuer.url] }, clock);
  const token = (by: Signer, subject = "ann") => sign(issuer, by, clock.now(), { claims: { sub: subject } });
  return { clock, token, causeOf: async (jwt: string) => Reflect.get(await validateJwt(jwt, "keyplane"), "cause") };
}

describe("b107: a token whose signature is bad", () => {
  test("is verified once, however often it comes, and others as they come", async () => {
    const { token, causeOf } = judge();
    const bad = await token(stranger);
    for (let i = 0; i < 5; i++) expect(await causeOf(bad)).toBe("jwt_signature");
    expect(verified).toHaveBeenCalledTimes(1);
    expect(await causeOf(await token(stranger, "eve"))).toBe("jwt_signature");
    expect(await causeOf(await token(signer))).toBeUndefined();
    expect(verified).toHaveBeenCalledTimes(3);
  });

  test("is verified again by keys that were fetched anew, and taken where it is good by them", async () => {
    const { clock, token, causeOf } = judge();
    const early = await token(stranger);
    expect(await causeOf(early)).toBe("jwt_signature");
    issuer.keys = [stranger.jwk];
    clock.advance(31_000);
    await causeOf(await token({ ...stranger, kid: "unknown" }));
    expect(await causeOf(early)).toBeUndefined();
  });

  test("is forgotten behind 1,024 others", async () => {
    const { token, causeOf } = judge();
    const bad = await token(stranger);
    const [head, claims] = bad.split(".");
    for (let i = 0; i <= 1_024; i++)
      await causeOf(i === 0 ? bad : `${head}.${claims}.${btoa(`${i}`.padStart(63, "0"))}`);
    const before = verified.mock.calls.length;
    await causeOf(bad);
    expect(verified).toHaveBeenCalledTimes(before + 1);
  });

  test("is verified again where it could not be", async () => {
    const { token, causeOf } = judge();
    const good = await token(signer);
    verified.mockRejectedValueOnce(new Error("out of memory"));
    expect(await causeOf(good)).toBe("jwt_signature");
    expect(await causeOf(good)).toBeUndefined();
  });

  test("is verified once as a logout token too", async () => {
    const clock = testClock();
    const client = { issuer: issuer.url, clientId: "console", secretFile: null };
    const judgeLogout = createLogoutValidator([client], clock);
    const bad = await sign(issuer, stranger, clock.now(), { claims: { aud: "console" } });
    for (let i = 0; i < 3; i++) expect(await judgeLogout(bad)).toBeUndefined();
    expect(verified).toHaveBeenCalledTimes(1);
  });
});
