import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../env/until.ts";
import { unique } from "../../store/fixtures.ts";
import { auditOfKey } from "../../store/questions.ts";
import { ownPage, signIn } from "../auth/session/sign-in.ts";
import { TOKEN } from "../management/api.ts";
import { deliveriesOf, SECRET } from "../webhooks/fixtures.ts";
import { type Installation, sha256, startInstallation, WHO, type Who } from "./installation.ts";

let installation: Installation;
beforeAll(async () => {
  installation = await startInstallation();
});
afterAll(() => installation.close());

const kindsOf = async (id: string) => (await auditOfKey(installation.store.db, id)).map(({ kind }) => kind);

describe("a leak that a member reports", () => {
  test.each(["admin", "member"] as const)(
    "by an %s: is answered with what the key is, and revokes it where the team says so",
    async (who) => {
      const key = await installation.makeKey("revoking");
      const { status, body, text } = await installation.report(who, [{ key: key.secret }]);
      expect([status, body]).toEqual([
        200,
        {
          leaks: [
            {
              ...{ state: "revoked", keyId: key.id, version: 1, prefix: key.prefix, name: key.name, namespace: "" },
              team: installation.teams.revoking,
              teamId: expect.stringMatching(/^team_/),
              leakedAt: expect.stringMatching(/Z$/),
              outcome: "revoked",
            },
          ],
          change: { sequence: expect.any(Number), confirmed: true },
        },
      ]);
      expect(text).not.toContain(key.secret);
      expect(await installation.api.tryKey(key.secret)).toBe(401);
      const [leaked, revoked] = (await auditOfKey(installation.store.db, key.id)).slice(-2);
      const by = { address: "127.0.0.1", userAgent: "node" };
      expect(leaked).toMatchObject({ kind: "key.leaked", actor: expect.stringMatching(/#(ann|ben)$/) });
      expect(leaked?.detail).toEqual({ version: 1, prefix: key.prefix, reporter: "member", ...by });
      expect(revoked).toMatchObject({ kind: "key.revoked", detail: { reason: "Leaked" } });
      const { revocation } = (await installation.api.send("GET", `/keys/${key.id}`)).body;
      expect(revocation).toMatchObject({ reason: "Leaked", sequence: body.change.sequence, confirmed: true });
    },
  );

  test.each([
    ["application/json; charset=iso-8859-1", "utf8", 415],
    ["application/json", "latin1", 400],
  ] as const)("b307: as %s in %s is %i, and ends nothing", async (type, encoding, expected) => {
    const { secret } = await installation.makeKey("revoking");
    const body = Buffer.from(JSON.stringify({ leaks: [{ key: secret }, { key: "größe" }] }), encoding);
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": type };
    expect((await installation.post(body, headers)).status).toBe(expected);
    expect(await installation.api.tryKey(secret)).toBe(200);
  });

  test("b114: is 415 where its body is in a coding, and ends nothing", async () => {
    const { secret } = await installation.makeKey("revoking");
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
      "content-encoding": "gzip",
    };
    const { status, text } = await installation.post(JSON.stringify({ leaks: [{ key: secret }] }), headers);
    expect([status, JSON.parse(text).code]).toEqual([415, "unsupported_media_type"]);
    expect(await installation.api.tryKey(secret)).toBe(200);
  });

  test("is reported once where the team says nothing, and the key works on", async () => {
    const { id, secret } = await installation.makeKey("alerting");
    for (const outcome of ["alerted", "none", "none"]) {
      const { body } = await installation.report("member", [{ key: secret }, { key: secret }]);
      expect(body).toMatchObject({
        leaks: [
          { state: "active", outcome },
          { state: "active", outcome },
        ],
        change: null,
      });
    }
    expect(await installation.api.tryKey(secret)).toBe(200);
    expect((await kindsOf(id)).filter((kind) => kind === "key.leaked")).toHaveLength(1);
  });

  test("may be its hash alone, as who reports it might revoke the key by hand", async () => {
    const { secret } = await installation.makeKey("revoking");
    const { body } = await installation.report("member", [{ sha256: sha256(secret).toUpperCase() }]);
    expect(body.leaks).toMatchObject([{ state: "revoked", outcome: "revoked" }]);
  });

  test("changes nothing as a dry run, nor by a viewer, who may look", async () => {
    const { id, prefix, secret } = await installation.makeKey("revoking");
    for (const [who, more] of [
      ["admin", { dryRun: true }],
      ["viewer", {}],
    ] as const) {
      const { body } = await installation.report(who, [{ key: secret }], more);
      expect(body.leaks).toMatchObject([{ state: "active", keyId: id, prefix, leakedAt: null, outcome: "none" }]);
    }
    expect(await installation.api.tryKey(secret)).toBe(200);
    expect(await kindsOf(id)).not.toContain("key.leaked");
  });

  test("b99: of another team's key, whole or by its hash, is unknown as what is no key, and ends nothing", async () => {
    const { secret } = await installation.makeKey("theirs");
    const nothing = `inf_${"0".repeat(40)}`;
    for (const who of ["admin", "member", "viewer"] satisfies Who[]) {
      const leaks = [{ key: secret }, { sha256: sha256(secret) }, { key: nothing }, { sha256: sha256(nothing) }];
      const { body } = await installation.report(who, leaks);
      const [first] = body.leaks;
      expect(first).toMatchObject({ state: "unknown", keyId: null, team: null, outcome: "none" });
      expect(body).toEqual({ leaks: [first, first, first, first], change: null });
    }
    expect(await installation.api.tryKey(secret)).toBe(200);
  });

  test("says what the versions of a key are, and ends of a rotated key only what leaked", async () => {
    const { id, secret } = await installation.makeKey("revoking");
    const second = (await installation.api.send("POST", `/keys/${id}/versions`, { overlap: "0s" })).body.secret;
    const third = (await installation.api.send("POST", `/keys/${id}/versions`, { overlap: "1h" })).body.secret;
    const leaks = [{ key: secret }, { key: second }];
    const { body } = await installation.report("admin", leaks);
    expect(body.leaks).toMatchObject([
      { state: "retired", version: 1, outcome: "none" },
      { state: "retired", version: 2, outcome: "retired" },
    ]);
    expect(body.change).toMatchObject({ confirmed: true });
    expect([await installation.api.tryKey(second), await installation.api.tryKey(third)]).toEqual([401, 200]);
    const ended = (await auditOfKey(installation.store.db, id)).filter(({ kind }) => kind === "key.retired");
    expect(ended.at(-1)).toMatchObject({
      actor: expect.stringMatching(/#ann$/),
      detail: { version: 2, reason: "Leaked", address: "127.0.0.1" },
    });
    const ask = await installation.report("viewer", [{ key: third }]);
    expect(ask.body.leaks).toMatchObject([{ state: "active", version: 3, leakedAt: null }]);
  });

  test("is revoked though the key is suspended or has expired: it may come to life again", async () => {
    const suspended = await installation.makeKey("revoking", { preset: "MCPReadOnly", state: "Suspended" });
    const expired = await installation.makeKey("revoking", { preset: "MCPReadOnly", expiresAfter: "1s" });
    const ask = () => installation.report("viewer", [{ key: suspended.secret }, { key: expired.secret }]);
    await until("it has expired", async () => (await ask()).body.leaks[1].state === "expired");
    expect((await ask()).body.leaks).toMatchObject([{ state: "suspended" }, { state: "expired" }]);
    const { body } = await installation.report("admin", [{ key: suspended.secret }, { key: expired.secret }]);
    expect(body.leaks).toMatchObject([{ state: "revoked" }, { state: "revoked" }]);
  });

  test("is found of an imported key too, whose text has a shape of its own", async () => {
    const secret = `inf_${"an-imported-key-of-another-shape".repeat(2)}`;
    const source = { hash: { sha256: sha256(secret), prefix: secret.slice(0, 12) } };
    const name = "imported";
    const made = { name, team: installation.teams.revoking, spec: { preset: "MCPReadOnly" }, source };
    expect((await installation.api.send("POST", "/keys", made)).status).toBe(201);
    const { body } = await installation.report("member", [{ key: secret }]);
    expect(body.leaks).toMatchObject([{ name, state: "revoked", outcome: "revoked" }]);
  });

  test("is sent to the team's webhooks that take it, with which key it is, and nothing more", async () => {
    const name = unique("notified");
    const webhooks = [{ url: "https://hooks.example.com/x", events: ["key.leaked"], secret: SECRET }];
    const { id: teamId } = (await installation.api.send("POST", "/teams", { name, spec: { webhooks } })).body;
    const { body } = await installation.api.send("POST", "/keys", {
      name,
      team: name,
      spec: { preset: "MCPReadOnly" },
    });
    for (let i = 0; i < 2; i++) await installation.api.send("POST", "/leaks", { leaks: [{ key: body.secret }] });
    const [delivery, ...others] = await deliveriesOf(installation.store, teamId);
    expect(others).toEqual([]);
    expect(delivery).toMatchObject({ event: "key.leaked", key_id: body.id });
    expect(delivery?.data).toMatchObject({ keyId: body.id, name, team: name, version: 1, reporter: "member" });
    expect(JSON.stringify(delivery?.data)).not.toContain(body.secret.slice(12));
  });

  test("is taken of a session, where its own page sends it", async () => {
    const { secret } = await installation.makeKey("revoking");
    const person = { issuer: installation.issuer, subject: WHO.member.sub, groups: [] };
    const browser = await signIn(installation.store, { person });
    const headers = { ...ownPage(installation.api, browser), "content-type": "application/json" };
    const leaks = JSON.stringify({ leaks: [{ key: secret }] });
    for (const foreign of [{ origin: "https://evil.example" }, { "x-csrf-token": "another" }]) {
      expect((await installation.post(leaks, { ...headers, ...foreign })).status).toBe(403);
    }
    expect(await installation.api.tryKey(secret)).toBe(200);
    const { status, text } = await installation.post(leaks, headers);
    expect([status, JSON.parse(text).leaks[0].state]).toEqual([200, "revoked"]);
  });

  test("may be one of a hundred, and no more are taken", async () => {
    const keys = await Promise.all(Array.from({ length: 3 }, () => installation.makeKey("revoking")));
    const leaks = [...keys.map(({ secret }) => ({ key: secret })), ...Array(97).fill({ key: "inf_nothing" })];
    const { body } = await installation.report("admin", leaks);
    expect(body.leaks.map(({ state }: { state: string }) => state)).toEqual([
      ...Array(3).fill("revoked"),
      ...Array(97).fill("unknown"),
    ]);
    expect((await installation.report("admin", [...leaks, { key: "inf_nothing" }])).status).toBe(400);
  });
});

describe("a member's report that is none", () => {
  const secret = `inf_${"x".repeat(57)}`;
  test.each([
    [{}],
    [{ leaks: secret }],
    [{ leaks: [secret] }],
    [{ leaks: [{ key: secret, sha256: sha256(secret) }] }],
    [{ leaks: [{ sha256: secret }] }],
    [{ leaks: [{ key: 1 }] }],
    [{ leaks: [], [secret]: 1 }],
    [{ leaks: [], dryRun: secret }],
  ])("is refused without a word of what was sent: %j", async (body) => {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const { status, text } = await installation.post(JSON.stringify(body), headers);
    expect([status, JSON.parse(text).code]).toEqual([400, "invalid_request"]);
    expect(text).not.toContain("xxx");
  });

  test("is refused where it is no JSON, or too large", async () => {
    const authorization = `Bearer ${TOKEN}`;
    expect((await installation.post("{", { authorization, "content-type": "application/json" })).status).toBe(400);
    expect((await installation.post("{}", { authorization, "content-type": "text/plain" })).status).toBe(415);
    expect((await installation.post(new Uint8Array(2 << 20), { authorization })).status).toBe(413);
  });
});
