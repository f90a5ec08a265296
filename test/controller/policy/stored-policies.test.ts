import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Cluster, DeclaredObject } from "../../../controller/cluster/port.ts";
import type { ControllerDeps } from "../../../controller/context/deps.ts";
import { storePolicy, storePresence } from "../../../controller/policy/stored-policies.ts";
import { takeLeadership } from "../../../store/database/change.ts";
import { policiesOfCluster, removePolicies } from "../../../store/policies/key-policies.ts";
import { describeOnPostgres } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { unique } from "../../store/fixtures.ts";

const spec = { teamSelector: { matchNames: ["team-a"] }, gracePeriod: "0s", maxKeys: 1 };

describeOnPostgres("A policy", (store) => {
  test("b131: that another look has removed while one reads what is stored does not come back", async () => {
    const { db } = store();
    const uid = unique("cluster");
    const policy = { kind: "PlatformKeyPolicy", namespace: "", name: "p", uid: "u", deleting: false, spec, status: {} };
    const declared = [policy as unknown as DeclaredObject<"PlatformKeyPolicy">];
    const cluster = {
      uid,
      list: () => [...declared],
      uids: () => declared.map((one) => one.uid),
      lookUp: async () => "gone",
    };
    const deps = {
      cluster: cluster as unknown as Cluster,
      store: store(),
      fence: await takeLeadership(store(), uid),
    } as ControllerDeps;
    await storePolicy(deps, { cluster: uid, uid: "u", name: "p", spec, teams: [], rules: [] });
    const looked = await db.transaction().execute(async (tx) => {
      await sql`lock table key_policies in access exclusive mode`.execute(tx);
      const looking = storePresence(deps);
      await until("it waits", async () => {
        const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
        return rows.length > 0;
      });
      declared.pop();
      await removePolicies(tx as Parameters<typeof removePolicies>[0], uid, ["u"]);
      return { looking };
    });
    await looked.looking;
    expect(await policiesOfCluster(db, uid)).toEqual([]);
  });
});
