import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
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

/** A viewer of a team of their own, who asks the management API. */
async function makeViewer(api: Api, store: Parameters<typeof makeTeam>[0]) {
  const sub = unique("viewer");
  const { teamId } = await makeTeam(store, { members: [{ role: "viewer", kind: "subject", value: sub }] });
  const token = await sign(issuer, signer, Date.now(), { claims: { sub } });
  const get = (path: string) => ask(api.url, token, "GET", path);
  await until("the server knows the team", async () => (await get(`/teams/${teamId}`)).status === 200);
  return get;
}

describeOnPostgres("Questions of the management API", (store) => {
  test("b138: of one team that take long leave other teams theirs, and the server what it decides by", async () => {
    const api = await startApi(store(), env());
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    try {
      const [hostile, other] = [await makeViewer(api, store()), await makeViewer(api, store())];
      const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
      const locking = store().withConnection((db) =>
        db.transaction().execute(async (tx) => {
          await sql`lock table key_token_hours in access exclusive mode`.execute(tx);
          lock();
          await held;
        }),
      );
      await locked;
      const flood = Array.from({ length: 30 }, () => hostile("/usage?by=model"));
      const waiting = async () => {
        const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(store().db);
        return rows.length;
      };
      await until("they wait in the database", async () => (await waiting()) >= 3);
      // The one question is asked by the other team's viewer, and the others by what draws budgets and limits.
      expect((await other("/keys")).status).toBe(200);
      // So does what sums up usage, at its times.
      expect(await waiting()).toBeLessThan(6);
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

describeOnEachEngine("Requests of the management API", (store) => {
  test("b138: of one team are all answered where it has many at once", async () => {
    const api = await startApi(store(), env());
    try {
      const get = await makeViewer(api, store());
      const answers = await Promise.all(Array.from({ length: 60 }, () => get("/keys")));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    } finally {
      await api.close();
    }
  });
});
