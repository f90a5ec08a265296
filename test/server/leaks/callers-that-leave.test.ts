import { connect } from "node:net";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { makeSecret } from "../../../server/auth/session/secret.ts";
import { leakRoutes } from "../../../server/leaks/routes.ts";
import { describeOnPostgres } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { startHarness } from "../harness.ts";
import { requestHead } from "../raw-http.ts";

const MIB = 1 << 20;
/** More than unsigned bodies may hold together. */
const HELD_BACK = 24;
const LEAVERS = 5;

describeOnPostgres("reports of callers who are not known", (store) => {
  test("b100: one whose caller has left while they were looked up is not kept", async () => {
    const harness = await startHarness({ mounts: [{ at: "/api/v1", routes: leakRoutes }], store: store() });
    const send = (headers: readonly string[]) => {
      const socket = connect(harness.port, "127.0.0.1").on("error", () => {});
      socket.write(requestHead("POST /api/v1/leaks HTTP/1.1", [...headers, `Content-Length: ${MIB}`]));
      return socket;
    };
    const connections = () => new Promise((resolve) => harness.app.server.getConnections((_, count) => resolve(count)));
    const isWaitedFor = async () => {
      const { rows } = await sql`select from pg_locks where not granted`.execute(store().db);
      return rows.length > 0;
    };
    await store()
      .db.transaction()
      .execute(async (tx) => {
        await sql`lock table sessions in access exclusive mode`.execute(tx);
        const leavers = Array.from({ length: LEAVERS }, () => send([`Cookie: keyplane_session=${makeSecret()}`]));
        await until("their sessions are looked up", isWaitedFor);
        await until("all are connected", async () => (await connections()) === LEAVERS);
        for (const leaver of leavers) leaver.resetAndDestroy();
        await until("they have left", async () => (await connections()) === 0);
      });
    await fetch(`${harness.url}/api/v1/leaks`, {
      method: "POST",
      headers: { cookie: `keyplane_session=${makeSecret()}` },
    });

    let answered = 0;
    const held = Array.from({ length: HELD_BACK }, () => {
      const socket = send([]).on("data", () => answered++);
      socket.write(Buffer.alloc(MIB - 1, " "));
      return socket;
    });
    const dropped = async () =>
      Number(/outcome="dropped"\} (\d+)/.exec(await harness.metrics.registry.metrics())?.[1] ?? 0);
    await until("those beyond the room are answered, and no others were dropped", async () => {
      expect(answered).toBeGreaterThanOrEqual(HELD_BACK - 16);
      expect(await dropped()).toBe(answered);
      return true;
    });
    for (const socket of held) socket.destroy();
    await harness.close();
  });
});
