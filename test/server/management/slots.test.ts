import { randomBytes } from "node:crypto";
import { get } from "node:http";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../../../store/database/store.ts";
import type { TeamDraft } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../env/database/engines.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { until } from "../../env/until.ts";
import { makeTeam, unique } from "../../store/fixtures.ts";
import { startUpstream, type Upstream } from "../gateway/upstream.ts";
import { answers, openCaller, statusesOf } from "../http/sockets.ts";
import { requestHead } from "../raw-http.ts";
import { type Api, ask, startApi } from "./api.ts";
import { type Issuer, makeSigner, type Signer, sign, startIssuer } from "./issuer.ts";

let issuer: Issuer;
let signer: Signer;
beforeAll(async () => {
  signer = await makeSigner("k");
  issuer = await startIssuer();
  issuer.keys = [signer.jwk];
});
afterAll(() => issuer.close());

const env = () => ({ KEYPLANE_OIDC_ISSUER: issuer.url, KEYPLANE_OIDC_AUDIENCE: "keyplane" });

/** A viewer of a team of their own: before the server starts, so that it knows the team. */
async function makeViewer(store: Store, others: TeamDraft["members"] = []) {
  const sub = unique("viewer");
  const { teamId, name } = await makeTeam(store, {
    members: [{ role: "viewer", kind: "subject", value: sub }, ...others],
  });
  const token = await sign(issuer, signer, Date.now(), { claims: { sub } });
  return { teamId, name, token, get: ({ url }: Api, path: string) => ask(url, token, "GET", path) };
}

type Viewer = Awaited<ReturnType<typeof makeViewer>>;

/** A key of a team that is held to a budget, with a gateway to call. */
async function makeBudgetedKey(api: Api, team: string, upstream: string) {
  const upstreams = [{ name: "main", dialect: "openai", baseURL: upstream, credential: "sk-provider-0123456789" }];
  const gateway = await api.send("POST", "/gateways", { name: "main", team, spec: { upstreams } });
  const budgets = [{ tokens: 1_000_000, period: "Total" }];
  const key = await api.send("POST", "/keys", { name: "agent", team, spec: { preset: "GatewayDefault", budgets } });
  const path = `/g/${gateway.body.publicID}/v1/embeddings`;
  const headers = { authorization: `Bearer ${key.body.secret}`, "content-type": "application/json" };
  return { path, headers, call: () => fetch(`${api.url}${path}`, { method: "POST", headers, body: CALL }) };
}
const CALL = '{"model":"m","input":"text"}';

/** Locks a table, so that who asks for it waits until it is let go. */
async function lock(store: Store, table: "key_token_hours" | "sessions") {
  const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
  const { promise: locked, resolve: tell } = Promise.withResolvers<void>();
  const locking = store.withConnection((db) =>
    db.transaction().execute(async (tx) => {
      await sql`lock table ${sql.table(table)} in access exclusive mode`.execute(tx);
      tell();
      await held;
    }),
  );
  await locked;
  return { letGo, whenUnlocked: locking };
}

describeOnPostgres("The turns of a server's callers at the database", (store) => {
  let api: Api;
  let hostile: Viewer;
  let other: Viewer;
  beforeAll(async () => {
    const admin = { role: "admin", kind: "subject", value: "their-admin" } as const;
    [hostile, other] = [await makeViewer(store(), [admin]), await makeViewer(store())];
    api = await startApi(store(), env());
  });
  afterAll(() => api.close());

  const waiting = async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(store().db);
    return rows.length;
  };

  test("b136: questions of one team that take long leave other teams theirs, and the server what it decides by", async () => {
    const { letGo, whenUnlocked } = await lock(store(), "key_token_hours");
    const flood = Array.from({ length: 12 }, () => hostile.get(api, "/usage?by=model"));
    try {
      await until("they wait in the database", async () => (await waiting()) === 5);
      // The one question is asked by the other team's viewer, and the others by what draws budgets and limits.
      expect((await other.get(api, "/keys")).status).toBe(200);
      // Of 20 connections the API has ten, and one team half of them.
      expect(await waiting()).toBe(5);
    } finally {
      letGo();
      await Promise.allSettled([...flood, whenUnlocked]);
    }
    const answers = await Promise.all(flood);
    expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
  });

  test("b154: a change by a member is not refused, and waits for no other of the team, while its viewers ask for more than may wait", async () => {
    const admin = await sign(issuer, signer, Date.now(), { claims: { sub: "their-admin" } });
    const { body: key } = await api.send("POST", "/keys", {
      ...{ name: "agent", team: hostile.name, spec: { preset: "MCPReadOnly" } },
    });
    const { letGo, whenUnlocked } = await lock(store(), "key_token_hours");
    // Five run, and 128 may wait.
    const flood = Array.from({ length: 150 }, () => hostile.get(api, "/usage?by=model"));
    try {
      const refused = await Promise.race(flood);
      expect(refused.status).toBe(429);
      const revoked = await ask(api.url, admin, "POST", `/keys/${key.id}/revoke`, {});
      expect([revoked.status, await api.tryKey(key.secret)]).toEqual([200, 401]);
    } finally {
      letGo();
      await Promise.all([...flood, whenUnlocked]);
    }
  });

  test("b139: cookies of the console that are no session's, however many are looked up, leave the database to callers with a token", async () => {
    const { letGo, whenUnlocked } = await lock(store(), "sessions");
    const flood = Array.from({ length: 20 }, () =>
      fetch(`${api.url}/dashboard/keys`, {
        headers: { cookie: `keyplane_session=${randomBytes(32).toString("base64url")}` },
        redirect: "manual",
      }),
    );
    try {
      await until("they wait in the database", async () => (await waiting()) === 4);
      expect((await other.get(api, "/keys")).status).toBe(200);
    } finally {
      letGo();
      await Promise.allSettled([...flood, whenUnlocked]);
    }
    const answers = await Promise.all(flood);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
  });

  test("b155: cookies from one network, however many are looked up, leave those from another network their turn", async () => {
    const { letGo, whenUnlocked } = await lock(store(), "sessions");
    const open = (localAddress: string) =>
      new Promise<number | undefined>((resolve) => {
        const cookie = `keyplane_session=${randomBytes(32).toString("base64url")}`;
        const asked = get(`${api.url}/dashboard/keys`, { agent: false, localAddress, headers: { cookie } }, (answer) =>
          resolve(answer.resume().statusCode),
        );
        asked.on("error", () => resolve(undefined));
      });
    let refused = 0;
    // Four run, and of one network 128 may wait; of all of them 1,024.
    const flood = Array.from({ length: NIGHTLY ? 1_100 : 150 }, async () => {
      if ((await open("127.0.0.1")) !== 303) refused++;
    });
    try {
      await until("as many wait as may", () => refused >= 10);
      const another = open("127.0.1.1");
      // By then it waits, or is refused.
      for (const _ of Array(20)) await other.get(api, "/keys");
      letGo();
      expect(await another).toBe(303);
    } finally {
      letGo();
      await Promise.all([...flood, whenUnlocked]);
    }
  });
});

describeNightlyOnEachEngine("A team that asks much of the management API", (store) => {
  let api: Api;
  let viewer: Viewer;
  let others: Awaited<ReturnType<typeof makeTeam>>;
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream();
    viewer = await makeViewer(store());
    others = await makeTeam(store());
    api = await startApi(store(), { ...env(), KEYPLANE_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.0/8" });
  });
  afterAll(async () => {
    await api.close();
    await upstream.close();
  });

  test("b136: has all its requests answered where it has many at once", async () => {
    const answers = await Promise.all(Array.from({ length: NIGHTLY ? 60 : 25 }, () => viewer.get(api, "/keys")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test("b150: draws its budget for a call behind a request of it, on its connection, in no turn of that request, which has left the database to it", async () => {
    const own = await makeBudgetedKey(api, viewer.name, upstream.url);
    const other = await makeBudgetedKey(api, others.name, upstream.url);
    const fields = Object.entries(own.headers).map(([name, value]) => `${name}: ${value}`);
    const caller = openCaller(Number(new URL(api.url).port));
    caller.socket.write(
      requestHead("GET /api/v1/keys HTTP/1.1", [`Authorization: Bearer ${viewer.token}`]) +
        requestHead(`POST ${own.path} HTTP/1.1`, [...fields, `Content-Length: ${CALL.length}`]) +
        CALL,
    );
    await answers(caller, 2);
    const seen = [statusesOf(caller), (await other.call()).status];
    caller.socket.destroy();
    expect(seen).toEqual([[200, 200], 200]);
  });
});
