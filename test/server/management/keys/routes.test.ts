import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { managementToken } from "../../../../server/auth/management/management-token.ts";
import { managementRoutes } from "../../../../server/management/routes.ts";
import type { Store } from "../../../../store/database/store.ts";
import { reserveVersion } from "../../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../../../store/keys/lifecycle/key-versions.ts";
import { releaseKey } from "../../../../store/keys/lifecycle/release.ts";
import { revokeKey } from "../../../../store/keys/lifecycle/revocation.ts";
import { findKey } from "../../../../store/keys/rows/find-key.ts";
import { LISTED_STATES } from "../../../../store/keys/search/key-lists.ts";
import { recordUsage } from "../../../../store/keys/uses/usage.ts";
import { registerReplica } from "../../../../store/replicas/replicas.ts";
import { deleteTeam } from "../../../../store/teams/teams.ts";
import { openMigrated } from "../../../env/database/engines.ts";
import { until } from "../../../env/until.ts";
import { digestOf, HOUR, makeTeam, NOW, nextVersion, policyOf, reserveKey, run } from "../../../store/fixtures.ts";
import { auditOfKey } from "../../../store/questions.ts";
import { type Harness, startHarness } from "../../harness.ts";
import { requestHead, sendRaw } from "../../raw-http.ts";
import { type ApiRequest, ask } from "../api.ts";

const TOKEN = "kpt_a-token-of-this-test";

let store: Store;
let harness: Harness;
beforeAll(async () => {
  store = await openMigrated();
  harness = await startHarness({
    mounts: [{ at: "/api/v1", routes: managementRoutes }],
    store,
    managementToken: managementToken("bootstrap-token", TOKEN),
  });
  harness.clock.set(NOW);
});
afterAll(async () => {
  await harness.close();
  await store.close();
});

const send = (...asked: ApiRequest) => ask(harness.url, TOKEN, ...asked);

/** A delivered key in a team of its own. */
async function makeKey(overrides: Parameters<typeof reserveKey>[2] = {}) {
  const team = await makeTeam(store);
  const reservation = await reserveKey(store, team, overrides);
  await run(store, (tx) => activateVersion(tx, { keyId: reservation.key.id, number: 1, overlapMs: 0 }));
  return { ...reservation.key, team: team.name, reservation };
}

describe("who is let in", () => {
  const routes = [
    ["GET", "/keys"],
    ["GET", "/keys/key_aaaaaaaaaaaaaaaaaaaa"],
    ["POST", "/keys/key_aaaaaaaaaaaaaaaaaaaa/revoke"],
    ["POST", "/keys/key_aaaaaaaaaaaaaaaaaaaa/rotate"],
  ] as const;

  test("b11: nothing but the installation's token opens the management API; all else gets one and the same 401", async () => {
    const key = harness.addKey();
    const attempts: Record<string, string>[] = [
      {},
      { authorization: `Bearer ${key}` },
      { authorization: "Bearer kpt_another-token" },
      { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
      { authorization: `Bearer ${TOKEN}x` },
      { authorization: `Bearer  ${TOKEN}` },
      { authorization: TOKEN },
      { authorization: `Basic ${Buffer.from(`:${TOKEN}`).toString("base64")}` },
      { "x-api-key": key },
      { "x-api-key": TOKEN },
      { "x-goog-api-key": TOKEN },
      { cookie: `session=${TOKEN}; authorization=Bearer ${TOKEN}` },
    ];
    for (const [method, path] of routes) {
      const answers = await Promise.all(
        attempts.map(async (headers) => {
          const answer = await fetch(`${harness.url}/api/v1${path}`, { method, headers });
          return JSON.stringify([answer.status, answer.headers.get("www-authenticate"), await answer.text()]);
        }),
      );
      expect(new Set(answers).size).toBe(1);
      expect(answers[0]).toMatch(/^\[401,"Bearer"/);
    }
  });

  test("b2: two Authorization lines are none, in either order", async () => {
    const right = `Authorization: Bearer ${TOKEN}`;
    for (const headers of [
      [right, "Authorization: Bearer x"],
      ["Authorization: Bearer x", right],
      [right, right],
    ]) {
      const { status } = await sendRaw(harness.port, requestHead("GET /api/v1/keys HTTP/1.1", headers));
      expect(status).toBe(401);
    }
    expect((await sendRaw(harness.port, requestHead("GET /api/v1/keys HTTP/1.1", [right]))).status).toBe(200);
  });

  test("b11: the token as a query parameter is none", async () => {
    expect((await fetch(`${harness.url}/api/v1/keys?key=${TOKEN}`)).status).toBe(401);
  });

  test("b10: a cookie beside the token changes nothing", async () => {
    expect((await send("GET", "/keys", undefined, { cookie: "session=of-another-person" })).status).toBe(200);
  });

  test("b11: a key beside the token changes nothing: the Bearer credential alone decides", async () => {
    expect((await send("GET", "/keys", undefined, { "x-api-key": harness.addKey() })).status).toBe(200);
  });

  test("b13: a method that a path does not have is 401 without the token, and 405 with it", async () => {
    for (const [path, method, allow] of [
      ["/keys", "PUT", "GET, POST"],
      ["/keys", "OPTIONS", "GET, POST"],
      ["/keys/key_aaaaaaaaaaaaaaaaaaaa", "PATCH", "GET, PUT, DELETE"],
      ["/keys/key_aaaaaaaaaaaaaaaaaaaa/revoke", "GET", "POST"],
    ] as const) {
      expect((await fetch(`${harness.url}/api/v1${path}`, { method })).status).toBe(401);
      const { status, headers } = await send(method, path);
      expect([path, method, status, headers.get("allow")]).toEqual([path, method, 405, allow]);
    }
  });

  test("a refusal is counted, and handed to the audit log", async () => {
    const before = harness.refused.length;
    await fetch(`${harness.url}/api/v1/keys`);
    expect(harness.refused.slice(before)).toEqual([
      expect.objectContaining({ code: "unauthorized", cause: "no_management_token", route: "/api/v1/keys" }),
    ]);
  });

  test("no caller is let in without a token of the installation, or with an empty one", async () => {
    const closed = await startHarness({ mounts: [{ at: "/api/v1", routes: managementRoutes }] });
    try {
      for (const authorization of ["Bearer null", "Bearer undefined", "Bearer ", `Bearer ${TOKEN}`]) {
        const answer = await fetch(`${closed.url}/api/v1/keys`, { headers: { authorization } });
        expect(answer.status).toBe(401);
      }
    } finally {
      await closed.close();
    }
  });

  test("a replica that has lost sight of the keys still takes a revocation", async () => {
    const key = await makeKey();
    harness.setCurrent(false);
    try {
      expect((await send("POST", `/keys/${key.id}/revoke`)).status).toBe(200);
    } finally {
      harness.setCurrent(true);
    }
  });
});

describe("a key", () => {
  test("is shown with its versions, times, team and declaration, and nothing of its secret", async () => {
    const key = await makeKey({ policy: policyOf({ scopes: ["memory:read"], expiresAt: NOW + HOUR }) });
    await recordUsage(store, [{ keyId: key.id, version: 1, at: NOW - 5_000 }]);
    const { status, body } = await send("GET", `/keys/${key.id}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      id: key.id,
      prefix: "inf_ABCDEFGH",
      name: key.name,
      displayName: "A key",
      namespace: key.namespace,
      team: key.team,
      teamId: key.teamId,
      scopes: ["memory:read"],
      state: "active",
      versions: [
        {
          number: 1,
          prefix: "inf_ABCDEFGH",
          state: "active",
          mintedAt: "2026-11-14T12:00:00.000Z",
          activatedAt: "2026-11-14T12:00:00.000Z",
          retiresAt: null,
          expiresAt: null,
          lastUsedAt: "2026-11-14T11:59:55.000Z",
          leakedAt: null,
        },
      ],
      expiresAt: "2026-11-14T13:00:00.000Z",
      lastUsedAt: "2026-11-14T11:59:55.000Z",
      lastNetworks: [],
      createdAt: expect.stringMatching(/^\d{4}-/),
      managedBy: null,
      released: false,
      declaredIn: { cluster: "c1", kind: "PlatformKey", uid: key.ownerUid },
      rotationRequestedAt: null,
      spec: {
        displayName: "A key",
        scopes: ["memory:read"],
        state: "Active",
        expiresAt: "2026-11-14T13:00:00.000Z",
      },
      revocation: null,
    });
  });

  test("b64: neither a list nor one key holds a digest, in any encoding", async () => {
    const key = await makeKey();
    const digest = Buffer.from(digestOf(`${key.name}/1`), "latin1");
    for (const path of ["/keys?limit=200", `/keys/${key.id}`]) {
      const { text } = await send("GET", path);
      expect(text).toContain(key.id);
      for (const encoding of ["hex", "base64", "base64url", "latin1"] as const) {
        expect(text).not.toContain(JSON.stringify(digest.toString(encoding)).slice(1, -1));
      }
      expect(text).not.toMatch(/digest|hash|secret/i);
    }
  });

  test.each(["key_aaaaaaaaaaaaaaaaaaaa", "nonsense", "%00", "key_'%20or%201=1"])(
    "that does not exist is 404: %s",
    async (id) => {
      for (const [method, path] of [
        ["GET", ""],
        ["POST", "/revoke"],
        ["POST", "/rotate"],
      ] as const) {
        expect([path, (await send(method, `/keys/${id}${path}`)).status]).toEqual([path, 404]);
      }
    },
  );
});

describe("a list", () => {
  test("comes in pages that hold every key once", async () => {
    const team = await makeTeam(store);
    const made = [];
    for (let i = 0; i < 5; i++) made.push((await reserveKey(store, team)).key.id);
    const found: unknown[] = [];
    let cursor = "";
    do {
      const { body } = await send("GET", `/keys?namespace=${team.namespace}&limit=2${cursor}`);
      const { items, nextCursor } = body as { items: { id: string }[]; nextCursor: string | null };
      expect(items.length).toBeLessThanOrEqual(2);
      found.push(...items.map(({ id }) => id));
      cursor = nextCursor === null ? "" : `&cursor=${nextCursor}`;
    } while (cursor !== "");
    expect(found).toEqual(made.sort());
  });

  test("is narrowed by team, namespace and name", async () => {
    const [one, other] = [await makeKey(), await makeKey()];
    for (const query of [`team=${one.team}`, `namespace=${one.namespace}`, `name=${one.name}`]) {
      const { body } = await send("GET", `/keys?${query}`);
      expect([query, body.items]).toEqual([query, [expect.objectContaining({ id: one.id })]]);
    }
    expect((await send("GET", `/keys?team=${one.team}&name=${other.name}`)).body.items).toEqual([]);
  });

  test("is narrowed by the state that it shows, whichever that is", async () => {
    const suspended = policyOf({ suspended: true });
    const ended = policyOf({ expiresAt: NOW });
    const keys = {
      active: [await makeKey(), await makeKey({ policy: policyOf({ expiresAt: NOW + 1 }) })],
      suspended: [await makeKey({ policy: suspended })],
      expired: [
        await makeKey({ policy: ended }),
        await makeKey({ expiresAfter: 0 }),
        await makeKey({ policy: { ...ended, suspended: true } }),
      ],
      revoked: [await makeKey({ policy: ended }), await makeKey()],
    };
    const orphans = [await makeKey(), await makeKey({ policy: ended })];
    for (const { team } of orphans)
      await run(store, (tx) => deleteTeam(tx, { cluster: "c1", name: team, ownerUid: `uid-${team}` }));
    keys.suspended.push(...orphans.slice(0, 1));
    keys.expired.push(...orphans.slice(1));
    for (const { id } of keys.revoked) await run(store, (tx) => revokeKey(tx, id, "Declared"));
    for (const state of LISTED_STATES) {
      const { body } = await send("GET", `/keys?state=${state}&limit=200`);
      const items = body.items as { id: string; state: string }[];
      expect(new Set(items.map((item) => item.state))).toEqual(new Set([state]));
      const ids = items.map(({ id }) => id);
      for (const [of, made] of Object.entries(keys)) {
        for (const { id } of made) expect([of, state, ids.includes(id)]).toEqual([of, state, of === state]);
      }
    }
  });

  test.each(["limit=0", "limit=1e9", "state=broken", "cursor=nonsense", "cursor=key_'--", "unknown=1", "team=%00"])(
    "b61: %s is 400",
    async (query) => {
      expect((await send("GET", `/keys?${query}`)).status).toBe(400);
    },
  );
});

describe("a revocation by hand", () => {
  test("ends every version, says who and why, and answers with a confirmed receipt", async () => {
    const key = await makeKey();
    const { status, body } = await send("POST", `/keys/${key.id}/revoke`, { reason: "found in a chat" });
    expect([status, body]).toEqual([200, { sequence: expect.any(Number), confirmed: true }]);
    const after = await findKey(store.db, key.id);
    expect(after?.versions.map(({ state }) => state)).toEqual(["revoked"]);
    expect((await auditOfKey(store.db, key.id)).at(-1)).toMatchObject({
      kind: "key.revoked",
      actor: "bootstrap-token",
      detail: { reason: "ByHand", why: "found in a chat" },
    });
    expect((await send("GET", `/keys/${key.id}`)).body).toMatchObject({
      state: "revoked",
      revocation: { reason: "ByHand", sequence: body.sequence, confirmed: true },
    });
  });

  test("repeated, is the same revocation with the same receipt", async () => {
    const key = await makeKey();
    const first = await send("POST", `/keys/${key.id}/revoke`);
    await makeKey();
    const second = await send("POST", `/keys/${key.id}/revoke`, {});
    expect(second.body).toEqual(first.body);
    const events = await auditOfKey(store.db, key.id);
    expect(events.filter(({ kind }) => kind === "key.revoked")).toHaveLength(1);
  });

  test("is not called confirmed while a replica may not know of it", async () => {
    const key = await makeKey();
    await registerReplica(store, "slow");
    try {
      const answering = send("POST", `/keys/${key.id}/revoke`);
      // The server's clock stands still, and would wait for ever: its patience is over when the test says so.
      await until("it is revoked", async () => (await send("GET", `/keys/${key.id}`)).body.state === "revoked");
      harness.clock.advance(4_000);
      expect((await answering).body).toMatchObject({ confirmed: false });
    } finally {
      await store.db.deleteFrom("replicas").execute();
      harness.clock.set(NOW);
    }
    expect((await send("GET", `/keys/${key.id}`)).body).toMatchObject({ revocation: { confirmed: true } });
  });

  test("does not take what looks like a key for its reason", async () => {
    const key = await makeKey();
    const { status, text } = await send("POST", `/keys/${key.id}/revoke`, { reason: "leaked: inf_0123456789abcdef" });
    expect(status).toBe(400);
    expect(text).not.toContain("0123456789abcdef");
    expect((await findKey(store.db, key.id))?.state).toBe("active");
  });

  test.each([[{ reason: 1 }], [{ reason: "" }], [{ reason: "a\u0000b" }], [{ why: "x" }], [[]], [null]])(
    "with a body of another shape is 400: %j",
    async (body) => {
      const key = await makeKey();
      expect((await send("POST", `/keys/${key.id}/revoke`, body)).status).toBe(400);
    },
  );
});

describe("a rotation by hand", () => {
  test("is asked for once, however often it is repeated, and each caller that asked is in the audit log", async () => {
    const key = await makeKey();
    const first = await send("POST", `/keys/${key.id}/rotate`);
    expect([first.status, first.body]).toEqual([202, { sequence: expect.any(Number), confirmed: true }]);
    const asked = await findKey(store.db, key.id);
    harness.clock.advance(5_000);
    await send("POST", `/keys/${key.id}/rotate`, { revokeOld: false });
    expect((await findKey(store.db, key.id))?.rotationRequest).toEqual(asked?.rotationRequest);
    const events = (await auditOfKey(store.db, key.id)).filter(({ kind }) => kind === "key.rotation_requested");
    expect(events).toEqual([
      expect.objectContaining({ actor: "bootstrap-token", detail: expect.objectContaining({ revokeOld: false }) }),
    ]);
    expect((await send("GET", `/keys/${key.id}`)).body.rotationRequestedAt).toMatch(/^2026-/);
    harness.clock.set(NOW);
  });

  test("b446: is asked for once by its Idempotency-Key, also after the new version is in use, and another request by it is refused", async () => {
    const key = await makeKey();
    const rotate = (revokeOld: boolean) =>
      send("POST", `/keys/${key.id}/rotate`, { revokeOld }, { "idempotency-key": key.id });
    expect((await rotate(true)).status).toBe(202);
    await run(store, (tx) => reserveVersion(tx, nextVersion(key.reservation, 2)));
    await run(store, (tx) => activateVersion(tx, { keyId: key.id, number: 2, overlapMs: 0 }));
    expect((await rotate(true)).status).toBe(202);
    expect((await findKey(store.db, key.id))?.rotationRequest).toBeNull();
    expect(await rotate(false)).toMatchObject({ status: 422, body: { code: "idempotency_mismatch", id: key.id } });
  });

  test("that is asked for already can still be changed to end the old version at once", async () => {
    const key = await makeKey();
    await send("POST", `/keys/${key.id}/rotate`);
    await send("POST", `/keys/${key.id}/rotate`, { revokeOld: true });
    await send("POST", `/keys/${key.id}/rotate`);
    expect((await findKey(store.db, key.id))?.rotationRequest).toMatchObject({ revokeOld: true });
  });

  test("comes after every version there is, though the clock that minted them is ahead", async () => {
    const key = await makeKey();
    const mintedAt = Date.now() + HOUR;
    await store.db
      .updateTable("key_versions")
      .set({ minted_at: new Date(mintedAt) })
      .where("key_id", "=", key.id)
      .execute();
    await send("POST", `/keys/${key.id}/rotate`);
    expect((await findKey(store.db, key.id))?.rotationRequest?.at).toBe(mintedAt + 1);
  });

  test("of a revoked key, or of one that nothing declares, is 409", async () => {
    const [revoked, released] = [await makeKey(), await makeKey()];
    await run(store, (tx) => revokeKey(tx, revoked.id, "ByHand"));
    await run(store, (tx) => releaseKey(tx, released.id));
    for (const { id } of [revoked, released]) {
      expect((await send("POST", `/keys/${id}/rotate`)).status).toBe(409);
    }
  });
});
