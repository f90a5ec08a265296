import { createHmac, generateKeyPairSync } from "node:crypto";
import { exportSPKI, importJWK } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { managementRoutes } from "../../../server/management/routes.ts";
import type { Store } from "../../../store/database/store.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { makeTeam } from "../../store/fixtures.ts";
import { type Harness, startHarness } from "../harness.ts";
import { type Issuer, makeSigner, type Signer, sign, startIssuer } from "./issuer.ts";

let store: Store;
let harness: Harness;
let issuer: Issuer;
let signer: Signer;
beforeAll(async () => {
  store = await openMigrated();
  signer = await makeSigner("first");
});
afterAll(() => store.close());
/** An issuer, and what asks it. */
async function start(): Promise<void> {
  issuer = await startIssuer();
  issuer.keys = [signer.jwk];
  harness = await startHarness({
    mounts: [{ at: "/api/v1", routes: managementRoutes }],
    store,
    config: { oidc: { issuers: [issuer.url], audience: "keyplane", adminGroups: ["platform"] } },
  });
}
async function end(): Promise<void> {
  await harness.close();
  issuer.close();
}
/** One for several tests: before each the issuer's keys are the usual ones, and it may be asked for them. */
function share(): void {
  beforeAll(start);
  beforeEach(() => {
    issuer.keys = [signer.jwk];
    harness.clock.advance(31_000);
  });
  afterAll(end);
}

const get = async (token: string, path = "/keys") => {
  const answer = await fetch(`${harness.url}/api/v1${path}`, { headers: { authorization: `Bearer ${token}` } });
  return { status: answer.status, text: await answer.text(), challenge: answer.headers.get("www-authenticate") };
};
const status = async (token: string) => (await get(token)).status;
const token = (claims: Readonly<Record<string, unknown>> = {}, header: object = {}, by = signer) =>
  sign(issuer, by, harness.clock.now(), { claims, header });

const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
/** In seconds. */
const now = () => Math.floor(harness.clock.now() / 1000);

describe("a token of the issuer", () => {
  share();

  test.each(["RS256", "ES256", "EdDSA"])("lets its subject in: %s", async (alg) => {
    const by = await makeSigner(`of-${alg}`, alg);
    issuer.keys = [signer.jwk, by.jwk];
    expect(await status(await token({}, {}, by))).toBe(200);
  });

  test("is believed within a minute of clock skew, and no further", async () => {
    expect(await status(await token({ exp: now() - 55 }))).toBe(200);
    expect(await status(await token({ exp: now() - 65 }))).toBe(401);
    expect(await status(await token({ nbf: now() + 55 }))).toBe(200);
    expect(await status(await token({ nbf: now() + 65 }))).toBe(401);
  });

  test("for several audiences is for this one too", async () => {
    expect(await status(await token({ aud: ["other", "keyplane"] }))).toBe(200);
  });

  test.each([undefined, "JWT", "jwt", "at+jwt", "application/at+jwt", "APPLICATION/AT+JWT"])(
    "may say that it is one: typ %s",
    async (typ) => {
      expect(await status(await token({}, { typ }))).toBe(200);
    },
  );

  test("of Entra's with 200 groups, as many as it puts into one, is read whole", async () => {
    const by = await makeSigner("of-entra", "RS256");
    issuer.keys = [by.jwk];
    const { teamId } = await makeTeam(store);
    const id = "00000000-1111-2222-3333-444444444444";
    const names = { name: "Anna", preferred_username: "anna@example.com", scp: "access", ver: "2.0" };
    const ids = {
      azp: id,
      azpacr: "0",
      oid: id,
      tid: id,
      aio: "x".repeat(120),
      rh: "x".repeat(60),
      uti: "x".repeat(22),
    };
    const entra = await token({ groups: [...Array(199).fill(id), "platform"], ...names, ...ids }, {}, by);
    expect(entra.length).toBeGreaterThan(11_000);
    expect((await get(entra, `/teams/${teamId}`)).status).toBe(200);
  });

  test("of a member of an admin group may do everything", async () => {
    const { teamId } = await makeTeam(store);
    expect((await get(await token({ groups: ["platform"] }), `/teams/${teamId}`)).status).toBe(200);
    for (const groups of [["plat"], "platform", [["platform"]], undefined]) {
      expect((await get(await token({ groups }), `/teams/${teamId}`)).status).toBe(404);
    }
  });
});

describe("one and the same 401 is the answer to a token", () => {
  share();

  const hmac = (secret: string | Buffer, header: object) => {
    const content = `${encode({ typ: "JWT", ...header })}.${encode({ iss: issuer.url, aud: "keyplane", sub: "ann", exp: now() + 300 })}`;
    return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
  };
  const spki = async () => {
    const key = await importJWK({ ...signer.jwk, kty: "EC" }, "ES256", { extractable: true });
    if (key instanceof Uint8Array) throw new Error("not a public key");
    return exportSPKI(key);
  };
  const stranger = makeSigner("first");

  const attempts: Record<string, () => Promise<string>> = {
    "without an algorithm": async () =>
      `${encode({ alg: "none" })}.${encode({ iss: issuer.url, aud: "keyplane", sub: "ann", exp: now() + 300 })}.`,
    "without an algorithm, oddly spelt, with a signature": async () =>
      (await token()).replace(/^[^.]+/, encode({ alg: "nOnE", kid: "first" })),
    "signed with the public key as a secret": async () => hmac(await spki(), { alg: "HS256", kid: "first" }),
    "signed with the JWK as a secret": async () => hmac(JSON.stringify(signer.jwk), { alg: "HS256", kid: "first" }),
    "of another algorithm than its key's": async () =>
      (await token()).replace(/^[^.]+/, encode({ alg: "RS256", kid: "first" })),
    "for another audience": () => token({ aud: "other" }),
    "for no audience": () => token({ aud: undefined }),
    "without an end": () => token({ exp: undefined }),
    "that has ended": () => token({ exp: now() - 3_600 }),
    "without a subject": () => token({ sub: undefined }),
    "with an empty subject": () => token({ sub: "" }),
    "with a subject that could forge a line": () => token({ sub: "ann\n{}" }),
    "of another issuer": () => token({ iss: "https://evil.example" }),
    "of no issuer": () => token({ iss: undefined }),
    "of an unknown kid": () => token({}, { kid: "other" }),
    "of another's key under a known kid": async () => token({}, {}, await stranger),
    "that brings its own key": async () => {
      const { privateKey, jwk, alg } = await stranger;
      const header = { jwk, jku: "http://evil.example/jwks" };
      return sign(issuer, { privateKey, alg, kid: "mine" }, harness.clock.now(), { header });
    },
    "with an extension that must be understood": async () =>
      (await token()).replace(/^[^.]+/, encode({ alg: "ES256", kid: "first", crit: ["x"], x: 1 })),
    "whose claims were changed": async () => {
      const [header, , signature] = (await token()).split(".");
      return [header, encode({ iss: issuer.url, aud: "keyplane", sub: "bob", exp: now() + 300 }), signature].join(".");
    },
    "without its signature": async () => (await token()).replace(/[^.]+$/, ""),
    "that is cut short": async () => (await token()).slice(0, -2),
    "that is no token": async () => "a.b.c",
    "that is enormous": async () => `${await token()}${"A".repeat(13_000)}`,
    "that is an API key": async () => harness.addKey(),
  };

  test.each(Object.keys(attempts))("%s", async (name) => {
    const expected = await get("nothing");
    expect(expected.status).toBe(401);
    expect(await get((await attempts[name]?.()) ?? "")).toEqual(expected);
    expect(harness.refused.at(-1)?.cause).toMatch(/^(jwt_|no_management_token)/);
    expect(harness.lines.join("")).not.toContain("eyJ");
  });

  const ofAnotherUse: Record<string, () => Promise<string>> = {
    "of which the subject is a number": () => token({ sub: 7 }),
    "of which the subject is a list": () => token({ sub: ["ann"] }),
    "of which the subject is true": () => token({ sub: true }),
    "of which the subject is an object": () => token({ sub: { toString: "ann" } }),
    "that ends a session": () => token({}, { typ: "logout+jwt" }),
    "that ends a session, by its media type": () => token({}, { typ: "application/Logout+JWT" }),
    "that proves a key": () => token({}, { typ: "dpop+jwt" }),
    "for security events": () => token({}, { typ: "secevent+jwt" }),
    "of an empty type": () => token({}, { typ: "" }),
    "of a type that is no text": () => token({}, { typ: ["JWT"] }),
  };

  test.each(Object.keys(ofAnotherUse))("b95: %s", async (name) => {
    const expected = await get("nothing");
    expect(expected.status).toBe(401);
    expect(await get((await ofAnotherUse[name]?.()) ?? "")).toEqual(expected);
    expect(harness.refused.at(-1)?.cause).toMatch(/^jwt_(claims|type)$/);
  });

  test("with a key that is too short to be safe", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    issuer.keys = [{ ...publicKey.export({ format: "jwk" }), kid: "weak", alg: "RS256" }];
    const { createSign } = await import("node:crypto");
    const content = `${encode({ alg: "RS256", kid: "weak" })}.${encode({ iss: issuer.url, aud: "keyplane", sub: "ann", exp: now() + 300 })}`;
    const signature = createSign("RSA-SHA256").update(content).sign(privateKey, "base64url");
    expect(await status(`${content}.${signature}`)).toBe(401);
  });

  test("that names a key which its issuer has published broken", async () => {
    issuer.keys = [signer.jwk, { ...signer.jwk, x: "AAAA", kid: "broken" }];
    expect(await status(await token({}, { kid: "broken" }))).toBe(401);
    expect(await status(await token())).toBe(200);
  });
});

describe("an issuer that changes its keys", () => {
  beforeEach(start);
  afterEach(end);

  test("is asked again for a key that is unknown, and the new one works at once", async () => {
    expect(await status(await token())).toBe(200);
    const next = await makeSigner("second");
    issuer.keys = [signer.jwk, next.jwk];
    harness.clock.advance(31_000);
    expect(await status(await token({}, {}, next))).toBe(200);
    expect(await status(await token())).toBe(200);
    expect(issuer.asked).toBe(2);
  });

  test("is not asked more than twice a minute, however many unknown keys are named", async () => {
    expect(await status(await token())).toBe(200);
    for (let i = 0; i < 20; i++) expect(await status(await token({}, { kid: `unknown-${i}` }))).toBe(401);
    expect(issuer.asked).toBe(1);
    harness.clock.advance(31_000);
    const many = Array.from({ length: 20 }, async (_, i) => status(await token({}, { kid: `more-${i}` })));
    expect(new Set(await Promise.all(many))).toEqual(new Set([401]));
    expect(issuer.asked).toBe(2);
  });

  test("withdraws a key within ten minutes", async () => {
    expect(await status(await token())).toBe(200);
    issuer.keys = [(await makeSigner("second")).jwk];
    harness.clock.advance(600_000);
    expect(await status(await token())).toBe(401);
  });
});

describe("an issuer that does not answer as it should", () => {
  beforeEach(start);
  afterEach(end);

  test.each(["away", "huge", "redirect", "other issuer", "elsewhere"] as const)(
    "lets no caller in, and says that this may pass: %s",
    async (fault) => {
      issuer.fault = fault;
      const answers = [];
      for (let i = 0; i < 5; i++) answers.push((await get(await token())).status);
      expect(answers).toEqual([503, 503, 503, 503, 503]);
      issuer.fault = undefined;
      harness.clock.advance(31_000);
      expect(await status(await token())).toBe(200);
    },
  );

  test("holds up no caller for long, and the installation's own not at all", async () => {
    issuer.fault = "hangs";
    const hanging = status(await token());
    expect(await status("kpt_not-a-token")).toBe(401);
    expect(await hanging).toBe(503);
  });

  test("is not asked about a token that names another issuer", async () => {
    expect(await status(await token({ iss: "https://evil.example" }))).toBe(401);
    expect(issuer.asked).toBe(0);
  });
});
