import { sql } from "kysely";
import { expect, test } from "vitest";
import { managementToken } from "../../../../server/auth/management/management-token.ts";
import { managementRoutes } from "../../../../server/management/routes.ts";
import { describeOnPostgres } from "../../../env/database/engines.ts";
import { until } from "../../../env/until.ts";
import { makeTeam, unique } from "../../../store/fixtures.ts";
import { startHarness } from "../../harness.ts";
import { ownPage, signIn } from "./sign-in.ts";

const TOKEN = "kpt_the-token-of-this-installation";
const ISSUER = "https://id.example";

describeOnPostgres("A key that its author's revocation overtakes", (store) => {
  test("b117: is not made, nor a version of one, once the revocation is confirmed", async () => {
    const harness = await startHarness({
      mounts: [{ at: "/api/v1", routes: managementRoutes }],
      store: store(),
      managementToken: managementToken("bootstrap-token", TOKEN),
      config: { oidc: { issuers: [ISSUER], audience: "keyplane", adminGroups: [] } },
    });
    try {
      harness.clock.set(Date.now());
      const team = await makeTeam(store(), { members: [{ role: "member", kind: "subject", value: "ann" }] });
      const ann = await signIn(store(), { person: { issuer: ISSUER, subject: "ann", groups: [] } });
      const send = async (path: string, headers: Readonly<Record<string, string>>, body: object) => {
        const answer = await fetch(`${harness.url}/api/v1${path}`, {
          ...{ method: "POST", body: JSON.stringify(body) },
          headers: { ...headers, "content-type": "application/json" },
        });
        return { status: answer.status, body: JSON.parse(await answer.text()) };
      };
      const byAnn = (path: string, body: object) =>
        send(path, { ...ownPage(harness, ann), "idempotency-key": unique("made") }, body);
      const wanted = () => ({ name: unique("key"), team: team.name, spec: { preset: "MCPReadOnly" } });
      const { id } = (await byAnn("/keys", wanted())).body;

      const release = Promise.withResolvers<void>();
      const locked = Promise.withResolvers<void>();
      const holding = store()
        .db.transaction()
        .execute(async (tx) => {
          await sql`lock table idempotency_keys in access exclusive mode`.execute(tx);
          locked.resolve();
          await release.promise;
        });
      await locked.promise;
      const asked = [byAnn("/keys", wanted()), byAnn(`/keys/${id}/versions`, {})];
      await until("both wait for the lock", async () => {
        const { rows } = await sql<{ count: number }>`select count(*)::int as count from pg_locks
          where not granted and relation = 'idempotency_keys'::regclass`.execute(store().db);
        return rows[0]?.count === 2;
      });
      const bearer = { authorization: `Bearer ${TOKEN}` };
      const revoked = await send(`/teams/${team.teamId}/revoked-subjects`, bearer, { subject: "ann" });
      expect(revoked).toMatchObject({ status: 200, body: { confirmed: true, keys: [{ id }] } });
      release.resolve();
      await holding;
      expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([403, 403]);
      const { rows } = await sql`select number from key_versions`.execute(store().db);
      expect(rows).toEqual([{ number: 1 }]);
    } finally {
      await harness.close();
    }
  });
});
