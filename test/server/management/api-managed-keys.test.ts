import { createHash, randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keyDigest, keyPrefix, mintKey } from "../../../domain/key/secret/key-format.ts";
import { releaseKey } from "../../../store/keys/lifecycle/release.ts";
import { embeddingProgress } from "../../../store/libraries/embedding-progress.ts";
import { type LibraryDraft, saveLibrary } from "../../../store/libraries/libraries.ts";
import { declareEmbedding } from "../../../store/libraries/library-embedding.ts";
import { findOrphans } from "../../../store/orphans.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { libraryDraft, makeTeam, reserveKey, run, unique } from "../../store/fixtures.ts";
import { auditOfKey } from "../../store/questions.ts";
import { type Api, startApi } from "./api.ts";

/** What a provider does: makes a key itself, and sends its hash alone. */
function ownSecret() {
  const plaintext = mintKey(randomBytes);
  const sha256 = createHash("sha256").update(plaintext).digest("hex");
  return { plaintext, sha256, source: { hash: { sha256, prefix: keyPrefix(plaintext) } } };
}

const SPEC = { preset: "MCPReadOnly" } as const;

describeNightlyOnEachEngine("a key that the management API makes", (store) => {
  let api: Api;
  let other: Api;
  let team: Awaited<ReturnType<typeof makeTeam>>;
  beforeAll(async () => {
    [api, other] = [await startApi(store()), await startApi(store())];
    team = await makeTeam(store());
  });
  afterAll(() => Promise.all([api.close(), other.close()]));

  const body = (more: object = {}) => ({ name: unique("made"), team: team.name, spec: SPEC, ...more });
  const make = (more: object = {}, headers: Record<string, string> = {}) =>
    api.send("POST", "/keys", body(more), headers);

  test("b28: works on every replica at the moment it is answered", async () => {
    const { status, body, headers } = await make();
    expect(status).toBe(201);
    expect([await api.tryKey(body.secret), await other.tryKey(body.secret)]).toEqual([200, 200]);
    expect(body).toMatchObject({ state: "active", team: team.name, namespace: "", declaredIn: null });
    expect(body).toMatchObject({
      scopes: ["memory:read"],
      prefix: body.secret.slice(0, 12),
      change: { confirmed: true },
    });
    expect(headers.get("location")).toBe(`/api/v1/keys/${body.id}`);
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("of a secret that its maker keeps is known by the hash alone", async () => {
    const { plaintext, sha256, source } = ownSecret();
    const { status, body, text } = await make({ source });
    expect([status, body.secret, body.prefix]).toEqual([201, null, source.hash.prefix]);
    expect(text).not.toContain(sha256);
    expect(await other.tryKey(plaintext)).toBe(200);
    expect((await make({ source })).body).toMatchObject({ status: 409, code: "conflict" });
  });

  test("b90: of a secret that its maker keeps is not known by another key's prefix", async () => {
    const { body: victim } = await make();
    const { sha256, source } = ownSecret();
    const under = { hash: { sha256, prefix: victim.prefix } };
    expect((await make({ source: under })).body).toMatchObject({
      status: 422,
      errors: [{ path: "source.hash.prefix", message: expect.stringContaining("identifies another key") }],
    });
    const { status, body } = await make({ source });
    expect(status).toBe(201);
    const version = await api.send("POST", `/keys/${body.id}/versions`, {
      source: { hash: { ...ownSecret().source.hash, prefix: victim.prefix } },
    });
    expect(version.status).toBe(422);
  });

  test("b64, b78: its plaintext is in one answer alone: in no row, log line, event or other answer", async () => {
    const key = unique("canary");
    const { body: made } = await make({ reason: "for the canary" }, { "idempotency-key": key });
    const { body: next } = await api.send("POST", `/keys/${made.id}/versions`, {});
    const secrets: string[] = [made.secret, next.secret];
    const { rows } = await sql<{ name: string }>`
      select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(
      store().db,
    );
    const everything = [
      api.lines.join("\n"),
      (await api.send("GET", "/keys?limit=200")).text,
      (await api.send("GET", `/keys/${made.id}`)).text,
      JSON.stringify(await auditOfKey(store().db, made.id)),
    ];
    for (const { name } of rows) {
      everything.push(JSON.stringify((await sql`select t::text from ${sql.table(name)} t`.execute(store().db)).rows));
    }
    expect(everything.some((text) => text.includes(made.id))).toBe(true);
    for (const secret of secrets) {
      for (const text of everything) expect(text.includes(secret.slice(12))).toBe(false);
    }
  });

  test("is the team's alone: no controller's garbage collection sees it", async () => {
    const { body } = await make();
    for (const cluster of ["api", team.cluster]) {
      const { orphans } = await findOrphans(store().db, "PlatformKey", { cluster, namespaces: null, uids: [] });
      expect(orphans.map(({ id }) => id)).not.toContain(body.id);
    }
  });

  test("is in the audit log with who, from where and why", async () => {
    const { body } = await make({ reason: "a new agent" }, { "user-agent": "tool/1 inf_0123456789abcdef \u00e9" });
    const from = { address: "127.0.0.1", userAgent: "tool/1 inf_... ?", why: "a new agent" };
    expect(await auditOfKey(store().db, body.id)).toEqual([
      expect.objectContaining({
        kind: "key.reserved",
        actor: "bootstrap-token",
        detail: expect.objectContaining(from),
      }),
      expect.objectContaining({
        kind: "key.activated",
        actor: "bootstrap-token",
        detail: expect.objectContaining(from),
      }),
    ]);
  });

  test("has the name to itself in its team, as long as it lives", async () => {
    const name = unique("named");
    const answers = await Promise.all([1, 2, 3, 4].map(() => make({ name })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    const made = answers.find(({ status }) => status === 201)?.body;
    for (const { body } of answers.filter(({ status }) => status === 409)) {
      expect(body).toMatchObject({ code: "exists", id: made.id });
    }
    expect((await make({ name })).body).toMatchObject({ code: "exists", id: made.id });
    expect((await make({ name, team: (await makeTeam(store())).name })).status).toBe(201);
    await api.send("DELETE", `/keys/${made.id}`);
    expect((await make({ name })).status).toBe(201);
  });

  describe("asked for with what is not valid", () => {
    test.each([
      ["spec.scopes[0]", { spec: { scopes: ["*"] } }],
      ["spec.scopes[1]", { spec: { scopes: ["memory:read", "memory:read"] } }],
      ["spec", { spec: {} }],
      ["spec.preset", { spec: { preset: "MCPReadOnly", scopes: ["memory:read"] } }],
      ["spec.libraryAccess", { spec: { scopes: ["gateway:embed"], libraryAccess: { mode: "All" } } }],
      [
        "spec.libraryAccess.libraryRefs[0]",
        { spec: { ...SPEC, libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "no" }] } } },
      ],
      ["spec.gatewayRef", { spec: { ...SPEC, gatewayRef: { name: "no", namespace: "nowhere" } } }],
      ["spec.expiresAfter", { spec: { ...SPEC, expiresAfter: "1 day" } }],
      ["spec.expiresAt", { spec: { ...SPEC, expiresAt: "0000-06-01T00:00:00Z" } }],
      ["spec.expiresAt", { spec: { ...SPEC, expiresAt: "0001-01-01T00:00:00+00:01" } }],
      ["spec.expiresAt", { spec: { ...SPEC, expiresAt: "2020-01-01T00:00:00Z" } }],
      ["spec.expiresAt", { spec: { ...SPEC, expiresAt: "9999-12-31T23:59:59-00:01" } }],
      ["spec.scope", { spec: { scope: [] } }],
      ["spec.constructor", { spec: { ...SPEC, constructor: 1 } }],
      ["spec.toString", { spec: { ...SPEC, toString: 1 } }],
      ["spec.secret", { spec: { ...SPEC, secret: {} } }],
      ["spec.rotation", { spec: { ...SPEC, rotation: { interval: "1h" } } }],
      ["spec.source", { spec: { ...SPEC, source: { type: "Generate" } } }],
      ["spec.state", { spec: { ...SPEC, state: "Revoked" } }],
      ["name", { name: "No Name" }],
      ["team", { team: "unknown" }],
      ["namespace", { namespace: "elsewhere" }],
    ])("c63: learns in which field a fault is: %s", async (path, more) => {
      const { status, body, headers } = await make(more);
      expect([status, body.code, body.errors[0]]).toEqual([422, "invalid", { path, message: expect.any(String) }]);
      expect(headers.get("content-type")).toMatch(/^application\/problem\+json/);
    });

    test.each([
      [{ source: { hash: { sha256: "00", prefix: "inf_00000000" } } }],
      [{ source: { hash: { sha256: "A".repeat(64), prefix: "inf_00000000" } } }],
      [{ source: {} }],
      [{ state: "Active" }],
      [{ spec: [] }],
      [{ team: 1 }],
      [{ reason: "leaked: inf_0123456789abcdef" }],
      [{ reason: "leaked: inf_our-own-shape+of/key" }],
    ])("is 400 where its form is wrong: %j", async (more) => {
      const { status, body } = await make(more);
      expect([status, body.code]).toEqual([400, "invalid_request"]);
    });
  });

  test("b78: is refused without repeating a key that was sent in the wrong place", async () => {
    const { plaintext } = ownSecret();
    for (const more of [
      { name: plaintext },
      { namespace: plaintext },
      { spec: { preset: plaintext } },
      { spec: { scopes: [plaintext] } },
      { spec: { ...SPEC, [plaintext]: 1 } },
      { spec: { preset: "GatewayDefault", gatewayRef: { name: plaintext } } },
      ...["displayName", "owner"].map((field) => ({ spec: { ...SPEC, [field]: `for ${plaintext}` } })),
      { spec: { preset: "GatewayDefault", allowedModels: ["fast", plaintext] } },
    ]) {
      const { body, text } = await make(more);
      expect(body.code).toBe("invalid");
      expect(text).not.toContain(plaintext.slice(12));
    }
  });

  test("is limited to models whose names begin as a key does", async () => {
    const spec = { preset: "GatewayDefault", allowedModels: ["inf_llama-70b"] };
    expect((await make({ spec })).body).toMatchObject({ spec });
  });

  test("is suspended also where its name for people holds a key that was stored before", async () => {
    const { id } = (await make()).body;
    const { plaintext: displayName } = ownSecret();
    await sql`update keys set spec = spec || ${JSON.stringify({ displayName })}::jsonb where id = ${id}`.execute(
      store().db,
    );
    const suspended = { ...SPEC, displayName, state: "Suspended" };
    const { status } = await api.send("PUT", `/keys/${id}`, { spec: suspended }, { "if-match": "*" });
    expect(status).toBe(200);
  });

  test("reaches what the team has by the names of its references, and nothing else", async () => {
    const save = (draft: LibraryDraft) => run(store(), (tx) => saveLibrary(tx, draft));
    const mine = unique("library");
    await save(libraryDraft(team, { name: mine }));
    const access = (ref: object) => ({ ...SPEC, libraryAccess: { mode: "Restricted", libraryRefs: [ref] } });
    for (const ref of [{ name: mine }, { name: mine, namespace: team.namespace }]) {
      const { status, body } = await make({ spec: access(ref) });
      expect([status, body.spec?.libraryAccess?.libraryRefs]).toEqual([201, [ref]]);
    }
    const stranger = await makeTeam(store());
    const theirs = unique("library");
    await save(libraryDraft(stranger, { name: theirs }));
    expect((await make({ spec: access({ name: theirs, namespace: stranger.namespace }) })).status).toBe(422);
  });

  describe("a creation that is repeated", () => {
    test("b76: with its idempotency key makes nothing twice, and answers what there is, without the secret", async () => {
      const key = { "idempotency-key": unique("once") };
      const request = body();
      const first = await api.send("POST", "/keys", request, key);
      const again = await other.send("POST", "/keys", request, key);
      expect([again.status, again.headers.get("idempotency-replayed")]).toEqual([201, "true"]);
      expect(first.headers.get("idempotency-replayed")).toBe(null);
      expect(again.body).toEqual({ ...first.body, secret: null, change: expect.objectContaining({ confirmed: true }) });
      await api.send("POST", `/keys/${first.body.id}/revoke`);
      expect((await api.send("POST", "/keys", request, key)).body).toMatchObject({
        id: first.body.id,
        state: "revoked",
      });
    });

    test("b76: many times at once makes one key", async () => {
      const key = { "idempotency-key": unique("once") };
      const request = body();
      const answers = await Promise.all(
        Array.from({ length: 4 }, (_, i) => (i % 2 === 0 ? api : other).send("POST", "/keys", request, key)),
      );
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
      expect(answers.filter(({ body }) => body.secret !== null)).toHaveLength(1);
    });

    test("b76: with another secret is refused, and says which key to adopt", async () => {
      const key = { "idempotency-key": unique("once") };
      const name = unique("adopted");
      const [lost, kept] = [ownSecret(), ownSecret()];
      const { body: made } = await make({ name, source: lost.source }, key);
      const refused = await make({ name, source: kept.source }, key);
      expect([refused.status, refused.body.code, refused.body.id]).toEqual([422, "idempotency_mismatch", made.id]);
      const adopted = await api.send("POST", `/keys/${made.id}/versions`, { source: kept.source, overlap: "0s" });
      expect(adopted.status).toBe(201);
      expect([await api.tryKey(lost.plaintext), await api.tryKey(kept.plaintext)]).toEqual([401, 200]);
    });

    test("after a refusal may be mended, with the same idempotency key", async () => {
      const key = { "idempotency-key": unique("once") };
      expect((await make({ spec: {} }, key)).status).toBe(422);
      expect((await make({}, key)).status).toBe(201);
    });

    test.each(["", "a b", "x".repeat(256), "ü"])("takes no idempotency key that is none: %j", async (key) => {
      expect((await make({}, { "idempotency-key": encodeURI(key) === key ? key : "\u00fc" })).status).toBe(400);
    });
  });

  describe("a change of its spec", () => {
    test("takes the whole of it, keeps the secret, and is in force when it is answered", async () => {
      const { body: made, headers } = await make({ spec: { ...SPEC, displayName: "Before", expiresAfter: "24h" } });
      const spec = { scopes: ["memory:read", "memory:write"], displayName: "After", state: "Suspended" };
      const changed = await api.send(
        "PUT",
        `/keys/${made.id}`,
        { spec, reason: "paused" },
        {
          "if-match": headers.get("etag") ?? "",
        },
      );
      expect([changed.status, changed.body.spec, changed.body.state]).toEqual([200, spec, "suspended"]);
      expect(changed.body).toMatchObject({ displayName: "After", expiresAt: null, change: { confirmed: true } });
      expect(await other.tryKey(made.secret)).toBe(401);
      const etag = changed.headers.get("etag") ?? "";
      expect(
        (await api.send("PUT", `/keys/${made.id}`, { spec: { ...SPEC, state: "Active" } }, { "if-match": etag }))
          .status,
      ).toBe(200);
      expect(await other.tryKey(made.secret)).toBe(200);
    });

    test("needs an ETag, and one that has not been outrun", async () => {
      const { body: made, headers } = await make();
      const put = (displayName: string, ifMatch?: string) =>
        api.send(
          "PUT",
          `/keys/${made.id}`,
          { spec: { ...SPEC, displayName } },
          ifMatch === undefined ? {} : { "if-match": ifMatch },
        );
      const etag = headers.get("etag") ?? "";
      expect((await put("a")).body).toMatchObject({ status: 428, code: "precondition_required" });
      const answers = await Promise.all([put("b", etag), put("c", etag), put("d", `"x", ${etag}`)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
      expect((await put("e", `W/${etag}`)).body).toMatchObject({ status: 412, code: "precondition_failed" });
      expect((await put("f", "*")).status).toBe(200);
    });

    test("takes the ETag that a proxy has made of its own as it compressed the answer, and no other", async () => {
      const { body: made, headers } = await make();
      const etag = headers.get("etag") ?? "";
      const proxied = { "if-match": `"x", W/${etag.replace(/"$/, '-br"')}` };
      const put = () => api.send("PUT", `/keys/${made.id}`, { spec: { ...SPEC, displayName: "by a proxy" } }, proxied);
      expect((await put()).status).toBe(200);
      expect((await put()).body).toMatchObject({ status: 412, code: "precondition_failed" });
    });

    test("is not outrun by the key's use, by a new version or by time", async () => {
      const { body: made, headers } = await make();
      await api.tryKey(made.secret);
      await api.send("POST", `/keys/${made.id}/versions`, {});
      expect((await api.send("GET", `/keys/${made.id}`)).headers.get("etag")).toBe(headers.get("etag"));
    });

    test("is refused where the new one would not be valid, and changes nothing", async () => {
      const { body: made } = await make();
      const refused = await api.send("PUT", `/keys/${made.id}`, { spec: { scopes: [] } }, { "if-match": "*" });
      expect([refused.status, refused.body.errors[0].path]).toEqual([422, "spec.scopes"]);
      expect((await api.send("GET", `/keys/${made.id}`)).body.spec).toEqual(made.spec);
    });
  });

  describe("a new version", () => {
    /** Waits until a version's overlap has passed, by this machine's clock. */
    const untilRetired = ({ retiresAt }: { readonly retiresAt: string }) =>
      delay(Math.max(0, Date.parse(retiresAt) - Date.now()));

    test("works beside the old ones, each for its overlap", async () => {
      const { body: first } = await make();
      const { status, body: second } = await api.send("POST", `/keys/${first.id}/versions`, { overlap: "1h" });
      expect(status).toBe(201);
      expect(second.versions.map(({ number, state }: { number: number; state: string }) => [number, state])).toEqual([
        [2, "active"],
        [1, "retiring"],
      ]);
      const { body: third } = await api.send("POST", `/keys/${first.id}/versions`, { overlap: "1s" });
      await untilRetired(third.versions[1]);
      await until("the second one ends", async () => (await api.tryKey(second.secret)) === 401);
      expect([await api.tryKey(first.secret), await api.tryKey(third.secret)]).toEqual([200, 200]);
      const { versions } = (await api.send("GET", `/keys/${first.id}`)).body;
      expect(versions[1]).toMatchObject({ number: 2, state: "retired" });
    });

    test("goes on for 24 hours where nothing is said", async () => {
      const { body: made } = await make();
      const { body } = await api.send("POST", `/keys/${made.id}/versions`);
      const [now, old] = body.versions;
      const overlap = Date.parse(old.retiresAt) - Date.parse(now.activatedAt);
      expect(Math.abs(overlap - 24 * 3_600_000)).toBeLessThan(1_000);
      expect(await api.tryKey(made.secret)).toBe(200);
    });

    test("has the life that the spec gives each version, from its own mint", async () => {
      const { body: made } = await make({ spec: { ...SPEC, expiresAfter: "1h" } });
      const { body } = await api.send("POST", `/keys/${made.id}/versions`);
      for (const { mintedAt, expiresAt } of body.versions) {
        expect(Date.parse(expiresAt) - Date.parse(mintedAt)).toBe(3_600_000);
      }
      const [, old] = body.versions;
      expect(old.retiresAt, "its overlap would be longer").toBe(old.expiresAt);
    });

    test("b76: repeated with its idempotency key is one version", async () => {
      const { body: made } = await make();
      const key = { "idempotency-key": unique("version") };
      const first = await api.send("POST", `/keys/${made.id}/versions`, {}, key);
      const again = await api.send("POST", `/keys/${made.id}/versions`, {}, key);
      expect(again.body.versions.length).toBe(2);
      expect([first.body.secret === null, again.body.secret]).toEqual([false, null]);
    });

    test("c56: is refused where four old ones work, with the time of the next, unless they are to end at once", async () => {
      const { body: made } = await make();
      const secrets = [made.secret];
      for (const overlap of ["3h", "1h", "2h", "4h"]) {
        secrets.push((await api.send("POST", `/keys/${made.id}/versions`, { overlap })).body.secret);
      }
      const before = (await api.send("GET", `/keys/${made.id}`)).body;
      const retiresAt = before.versions.find(({ number }: { number: number }) => number === 2).retiresAt;
      const { status, body } = await api.send("POST", `/keys/${made.id}/versions`, {});
      expect([status, body]).toEqual([409, expect.objectContaining({ code: "too_many_versions", retiresAt })]);
      expect(body.detail).toContain("`overlap: 0s`");
      expect((await api.send("GET", `/keys/${made.id}`)).body.versions).toEqual(before.versions);
      for (const secret of secrets) expect(await api.tryKey(secret)).toBe(200);

      const { body: next } = await api.send("POST", `/keys/${made.id}/versions`, { overlap: "0s" });
      for (const secret of secrets) await until("it is ended", async () => (await api.tryKey(secret)) === 401);
      expect(await api.tryKey(next.secret)).toBe(200);
    });

    test("c56: comes about once an old one has ended by itself", async () => {
      const { body: made } = await make();
      const first = await api.send("POST", `/keys/${made.id}/versions`, { overlap: "1s" });
      for (const overlap of ["3h", "3h", "3h"]) await api.send("POST", `/keys/${made.id}/versions`, { overlap });
      await untilRetired(first.body.versions[1]);
      const answer = await until("there is room", async () => {
        const { status, body } = await api.send("POST", `/keys/${made.id}/versions`, { overlap: "3h" });
        return status === 201 ? body : undefined;
      });
      const states = answer.versions.map(
        ({ number, state }: { number: number; state: string }) => `${number} ${state}`,
      );
      expect(states).toEqual(["6 active", "5 retiring", "4 retiring", "3 retiring", "2 retiring"]);
    });

    test("is not to be had of a revoked key", async () => {
      const { body: made } = await make();
      await api.send("POST", `/keys/${made.id}/revoke`);
      expect((await api.send("POST", `/keys/${made.id}/versions`)).body).toMatchObject({
        status: 409,
        code: "conflict",
      });
    });
  });

  test("ends for ever when it is deleted, and stays to be seen", async () => {
    const { body: made, headers } = await make();
    const outrun = await api.send("DELETE", `/keys/${made.id}`, undefined, { "if-match": '"another"' });
    expect(outrun.status).toBe(412);
    const etag = headers.get("etag") ?? "";
    const { status, body } = await api.send("DELETE", `/keys/${made.id}`, { reason: "no use" }, { "if-match": etag });
    expect([status, body]).toEqual([200, { sequence: expect.any(Number), confirmed: true }]);
    expect([await api.tryKey(made.secret), await other.tryKey(made.secret)]).toEqual([401, 401]);
    expect((await api.send("GET", `/keys/${made.id}`)).body).toMatchObject({
      state: "revoked",
      revocation: { reason: "Deleted", sequence: body.sequence, confirmed: true },
    });
    expect((await api.send("DELETE", `/keys/${made.id}`)).body).toEqual(body);
  });

  test("is rotated by a new version, as no controller would deliver one", async () => {
    const { body: made } = await make();
    const { status, body } = await api.send("POST", `/keys/${made.id}/rotate`);
    expect([status, body.detail]).toEqual([409, expect.stringContaining("/versions")]);
  });

  test("a library's own key says whose it is, and is revoked here alone", async () => {
    const library = libraryDraft(team);
    const { libraryId } = await run(store(), (tx) => saveLibrary(tx, library));
    const { plaintext } = ownSecret();
    const draft = {
      library: { ...team, id: libraryId, name: library.name },
      ...{ gatewayId: "gw_main", model: "small", dimensions: null, generation: 1 },
      mint: () => ({ digest: keyDigest(plaintext), prefix: keyPrefix(plaintext) }),
    };
    await run(store(), (tx) => declareEmbedding(tx, draft));
    const path = `/keys/${(await embeddingProgress(store().db, libraryId))?.keyId}`;
    const managedBy = `MemoryLibrary ${library.namespace}/${library.name}`;
    expect((await api.send("GET", path)).body).toMatchObject({ declaredIn: null, released: false, managedBy });
    for (const answer of [
      await api.send("PUT", path, { spec: SPEC }, { "if-match": "*" }),
      await api.send("GET", `${path}/manifest`),
    ]) {
      expect(answer.body).toMatchObject({ status: 409, code: "managed" });
      expect(answer.body.detail).toContain(managedBy);
    }
    expect((await api.send("POST", `${path}/revoke`)).status).toBe(200);
  });

  test("a key that is declared elsewhere is read and revoked here, and that is all", async () => {
    const { key } = await reserveKey(store(), team);
    const etag = { "if-match": "*" };
    for (const answer of [
      await api.send("PUT", `/keys/${key.id}`, { spec: SPEC }, etag),
      await api.send("DELETE", `/keys/${key.id}`, undefined, etag),
      await api.send("POST", `/keys/${key.id}/versions`, {}),
    ]) {
      expect(answer.body).toMatchObject({ status: 409, code: "managed" });
      expect(answer.body.detail).toContain(`PlatformKey ${key.namespace}/${key.name}`);
    }
    expect((await api.send("POST", `/keys/${key.id}/revoke`)).status).toBe(200);
    const released = (await reserveKey(store(), team)).key;
    await run(store(), (tx) => releaseKey(tx, released.id));
    expect((await api.send("PUT", `/keys/${released.id}`, { spec: SPEC }, etag)).body.code).toBe("conflict");
  });
});
