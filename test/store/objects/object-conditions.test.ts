import { sql } from "kysely";
import { expect, test } from "vitest";
import { readConditions, recordConditions } from "../../../store/objects/object-conditions.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { makeTeam, unique } from "../fixtures.ts";

const READY = { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "" } as const;

describeOnEitherEngine("The conditions of an object", (store) => {
  test.for(["team", "library"] as const)("are recorded of a %s without reading all others", async (kind) => {
    const { cluster, teamId } = await makeTeam(store());
    const [prefix, table] = [unique("many"), { team: "teams", library: "libraries" }[kind]];
    const columns = {
      team: sql`generation) select ${prefix} || i, ${cluster}, 'n' || i, 'u' || i, 'active', '', 1`,
      library: sql`team_id, namespace, description, deletion_policy) select ${prefix} || i, ${cluster}, 'n' || i, 'u' || i,
        'active', '', ${teamId}, 'dev', '', 'Retain'`,
    }[kind];
    await sql`insert into ${sql.table(table)} (id, cluster, name, owner_uid, state, display_name, ${columns}
      from generate_series(1, 2000) i`.execute(store().db);
    await sql`analyze ${sql.table(table)}`.execute(store().db);
    const read = await store()
      .db.transaction()
      .execute(async (tx) => {
        const object = { cluster, namespace: kind === "team" ? "" : "dev", name: "n7", ownerUid: "u7" };
        await recordConditions(tx, kind, object, [READY]);
        const { rows } = await sql<{ read: number }>`select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
          from pg_stat_xact_user_tables where relname = ${table}`.execute(tx);
        return rows[0]?.read;
      });
    expect(read).toBeLessThan(10);
    expect([...(await readConditions(store().db, kind, [`${prefix}7`, `${prefix}8`])).keys()]).toEqual([`${prefix}7`]);
  });
});
