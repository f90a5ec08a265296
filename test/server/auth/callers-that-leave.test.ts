/** Callers that are gone, with their addresses, when their answer is decided. */
import { once } from "node:events";
import { connect } from "node:net";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../../../store/database/store.ts";
import { openMigrated } from "../../env/database/engines.ts";
import { until } from "../../env/until.ts";
import { type Api, startApi } from "../management/api.ts";

let store: Store;
let api: Api;
beforeAll(async () => {
  store = await openMigrated();
  api = await startApi(store);
});
afterAll(async () => {
  await api.close();
  await store.close();
});

test.each(["/api/v1/keys", "/atoms", "/api/v1/memory/mcp", "/dashboard/keys", "/api/v1/leaks"])(
  "b108: %s is refused to who resets the connection at once, and neither ends the process nor is our failure",
  async (path) => {
    const { hostname, port } = new URL(api.url);
    for (let i = 0; i < 100; i++) {
      const socket = connect(Number(port), hostname).on("error", () => {});
      await once(socket, "connect");
      const head = [
        `POST ${path} HTTP/1.1`,
        `Host: ${hostname}:${port}`,
        "Authorization: Bearer x",
        "Content-Length: 0",
      ];
      await new Promise((resolve) => socket.write(`${head.join("\r\n")}\r\n\r\n`, resolve));
      socket.resetAndDestroy();
    }
    expect((await api.send("GET", "/keys?limit=1")).status).toBe(200);
    expect(api.lines.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  },
);

test("b88: what is refused on a connection that was reset is recorded with its address", async () => {
  const addresses = async () => {
    const { rows } = await sql<{ address: string }>`
      select distinct detail->>'address' as address from audit_events where actor like 'replica:%' and detail ? 'address'`.execute(
      store.db,
    );
    return rows.map(({ address }) => address);
  };
  await until("the refusals are written", async () => (await addresses()).length > 0);
  expect(await addresses()).toEqual(["127.0.0.1"]);
});
