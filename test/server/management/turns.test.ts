import { randomBytes } from "node:crypto";
import { get } from "node:http";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../../../store/database/store.ts";
import type { TeamDraft } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine, describeOnPostgres } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { makeTeam, unique } from "../../store/fixtures.ts";
import { startUpstream } from "../gateway/upstream.ts";
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

describeOnPostgres("Questions of the management API", (store) => {
  test("b136: of one team that take long leave other teams theirs, and the server what it decides by", async () => {
    const [hostile, other] = [await makeViewer(store()), await makeViewer(store())];
    const api = await startApi(store(), env());
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    try {
      const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
      const locking = store().withConnection((db) =>
        db.transaction().execute(async (tx) => {
          await sql`lock table key_token_hours in access exclusive mode`.execute(tx);
          lock();
          await held;
        }),
      );
      await locked;
      const flood = Array.from({ length: 30 }, () => hostile.get(api, "/usage?by=model"));
      const waiting = async () => {
        const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(store().db);
        return rows.length;
      };
      await until("they wait in the database", async () => (await waiting()) === 5);
      // The one question is asked by the other team's viewer, and the others by what draws budgets and limits.
      expect((await other.get(api, "/keys")).status).toBe(200);
      // Of 20 connections the API has ten, and one team half of them.
      expect(await waiting()).toBe(5);
      letGo();
      const answers = await Promise.all(flood);
      expect(answers.map(({ status }) => status).filter((status) => status !== 200)).toEqual([]);
      await locking;
    } finally {
      letGo();
      await api.close();
    }
  });
});

describeOnPostgres("A change by a member of a team", (store) => {
  test("b154: is not refused, and waits for no other of it, while the team's viewers ask for more than may wait", async (context) => {
    const viewer = await makeViewer(store(), [{ role: "admin", kind: "subject", value: "their-admin" }]);
    const admin = await sign(issuer, signer, Date.now(), { claims: { sub: "their-admin" } });
    const api = await startApi(store(), env());
    context.onTestFinished(() => api.close());
    const { body: key } = await api.send("POST", "/keys", {
      ...{ name: "agent", team: viewer.name, spec: { preset: "MCPReadOnly" } },
    });
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const locking = store().withConnection((db) =>
      db.transaction().execute(async (tx) => {
        await sql`lock table key_token_hours in access exclusive mode`.execute(tx);
        lock();
        await held;
      }),
    );
    await locked;
    const flood = Array.from({ length: 200 }, () => viewer.get(api, "/usage?by=model"));
    try {
      const refused = await Promise.race(flood);
      expect(refused.status).toBe(429);
      const revoked = await ask(api.url, admin, "POST", `/keys/${key.id}/revoke`, {});
      expect([revoked.status, await api.tryKey(key.secret)]).toEqual([200, 401]);
    } finally {
      letGo();
      await Promise.all([...flood, locking]);
    }
  });
});

describeOnPostgres("Cookies of the console that are no session's", (store) => {
  test("b139: however many are looked up, leave the database to callers with a token", async () => {
    const viewer = await makeViewer(store());
    const api = await startApi(store(), env());
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    try {
      const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
      const locking = store().withConnection((db) =>
        db.transaction().execute(async (tx) => {
          await sql`lock table sessions in access exclusive mode`.execute(tx);
          lock();
          await held;
        }),
      );
      await locked;
      const flood = Array.from({ length: 60 }, () =>
        fetch(`${api.url}/dashboard/keys`, {
          headers: { cookie: `keyplane_session=${randomBytes(32).toString("base64url")}` },
          redirect: "manual",
        }),
      );
      await until("they wait in the database", async () => {
        const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(store().db);
        return rows.length === 4;
      });
      expect((await viewer.get(api, "/keys")).status).toBe(200);
      letGo();
      const answers = await Promise.all(flood);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([303]));
      await locking;
    } finally {
      letGo();
      await api.close();
    }
  });
});

describeOnPostgres("Cookies from one network", (store) => {
  test("b155: however many are looked up, leave those from another network their turn", async (context) => {
    const viewer = await makeViewer(store());
    const api = await startApi(store(), env());
    context.onTestFinished(() => api.close());
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const locking = store().withConnection((db) =>
      db.transaction().execute(async (tx) => {
        await sql`lock table sessions in access exclusive mode`.execute(tx);
        lock();
        await held;
      }),
    );
    await locked;
    const open = (localAddress: string) =>
      new Promise<number | undefined>((resolve) => {
        const cookie = `keyplane_session=${randomBytes(32).toString("base64url")}`;
        const asked = get(`${api.url}/dashboard/keys`, { agent: false, localAddress, headers: { cookie } }, (answer) =>
          resolve(answer.resume().statusCode),
        );
        asked.on("error", () => resolve(undefined));
      });
    let refused = 0;
    const flood = Array.from({ length: 1_100 }, async () => {
      if ((await open("127.0.0.1")) !== 303) refused++;
    });
    try {
      await until("as many wait as may", () => refused >= 50);
      const other = open("127.0.1.1");
      // By then it waits, or is refused.
      for (const _ of Array(20)) await viewer.get(api, "/keys");
      letGo();
      expect(await other).toBe(303);
    } finally {
      letGo();
      await Promise.all([...flood, locking]);
    }
  });
});

describeNightlyOnEachEngine("Requests of the management API", (store) => {
  test("b136: of one team are all answered where it has many at once", async () => {
    const viewer = await makeViewer(store());
    const api = await startApi(store(), env());
    try {
      const answers = await Promise.all(Array.from({ length: 60 }, () => viewer.get(api, "/keys")));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    } finally {
      await api.close();
    }
  });
});

describeNightlyOnEachEngine(
  "A call that is sent behind a request of the management API, on its connection",
  (store) => {
    test("b150: draws its budget in no turn of that request, whose caller has left the database to it", async (context) => {
      const viewer = await makeViewer(store());
      const others = await makeTeam(store());
      const upstream = await startUpstream();
      const api = await startApi(store(), { ...env(), KEYPLANE_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.0/8" });
      context.onTestFinished(async () => {
        await api.close();
        await upstream.close();
      });
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
  },
);
