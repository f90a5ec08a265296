import { sql } from "kysely";
import { expect, test } from "vitest";
import { NO_FIGURES, TOKEN_FIGURES } from "../../../domain/usage/token-count.ts";
import { addRequestCounts } from "../../../store/keys/uses/request-counts.ts";
import { addTokenCounts } from "../../../store/keys/uses/token-counts.ts";
import { readUsage } from "../../../store/usage/read-usage.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { rowsRead } from "../../env/database/rows-read.ts";
import { HOUR, makeTeam, reserveKey } from "../fixtures.ts";

const slot = Math.floor(Date.now() / HOUR) * HOUR;
const OTHERS = 5_000;

describeNightlyOnEachEngine("Usage", (store) => {
  test("b188: of one team is read without what the keys of others have used", async () => {
    const { db } = store();
    const home = await makeTeam(store());
    const { key } = await reserveKey(store(), home);
    await addRequestCounts(store(), [{ keyId: key.id, slot, scope: "memory:read", count: 7 }], () => {});
    await sql`insert into key_requests (key_id, slot, scope, count)
      select 'key_other_' || n, to_timestamp(${slot}::float8 / 1000), 'memory:read', 1
      from generate_series(1, ${OTHERS}::integer) n`.execute(db);
    await sql`analyze keys, key_requests`.execute(db);
    const question = { from: slot - HOUR, to: slot + HOUR, step: "total", by: "key", limit: 100 } as const;
    const { scans, rows } = await rowsRead(db, ["key_requests"], async (asked) => {
      expect(await readUsage(asked, { ...question, teamIds: [home.teamId] })).toMatchObject([
        { group: key.id, requests: 7 },
      ]);
    });
    expect(scans).toBe(0);
    expect(rows).toBeLessThan(OTHERS / 100);
  });

  test("b211: what models' answers to one team's keys used is read without what others' have", async () => {
    const { db } = store();
    const home = await makeTeam(store());
    const { key } = await reserveKey(store(), home);
    const of = { gatewayId: "gw", routeId: "", model: "m" };
    const own = { keyId: key.id, teamId: home.teamId, slot, ...of, figures: { ...NO_FIGURES, calls: 7 } };
    await addTokenCounts(store(), [own], () => {});
    await sql`insert into key_tokens (key_id, slot, gateway_id, route_id, model, team_id, ${sql.join(TOKEN_FIGURES.map((name) => sql.ref(name)))})
      select 'key_other_' || n, to_timestamp(${slot}::float8 / 1000), 'gw', '', 'm', 'team_' || n % 1000,
        ${sql.join(TOKEN_FIGURES.map(() => sql`1`))}
      from generate_series(1, ${OTHERS}::integer) n`.execute(db);
    await sql`analyze keys, key_tokens`.execute(db);
    const question = { from: slot - HOUR, to: slot + HOUR, step: "total", by: "key", limit: 100 } as const;
    const { scans, rows } = await rowsRead(db, ["key_tokens"], async (asked) => {
      expect(await readUsage(asked, { ...question, teamIds: [home.teamId] })).toMatchObject([
        { group: key.id, figures: { calls: 7 } },
      ]);
    });
    expect(scans).toBe(0);
    expect(rows).toBeLessThan(OTHERS / 100);
  });
});
