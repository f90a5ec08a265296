import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../../../store/database/store.ts";
import { describeOnEachEngine, describeOnPostgres } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { makeTeam, unique } from "../../store/fixtures.ts";
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
async function makeViewer(store: Store) {
  const sub = unique("viewer");
  await makeTeam(store, { members: [{ role: "viewer", kind: "subject", value: sub }] });
  const token = await sign(issuer, signer, Date.now(), { claims: { sub } });
  return { get: ({ url }: Api, path: string) => ask(url, token, "GET", path) };
}

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

describeOnEachEngine("Requests of the management API", (store) => {
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
