/** A server with the memory of the chart's, and callers who ask for large answers and read nothing of them. */
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { SCOPES } from "../../../domain/access/scopes.ts";
import { keyDigest, keyPrefix, mintKey } from "../../../domain/key/secret/key-format.ts";
import { change } from "../../../store/database/change.ts";
import type { Store } from "../../../store/database/store.ts";
import { reserveVersion } from "../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../../store/keys/lifecycle/key-versions.ts";
import { saveLibrary } from "../../../store/libraries/libraries.ts";
import { databaseUrl, describeOnPostgres } from "../../env/database/engines.ts";
import { makeMemoryCgroup } from "../../env/memory-cgroup.ts";
import { startServing } from "../../env/serving.ts";
import { until } from "../../env/until.ts";
import { libraryDraft, makeTeam, policyOf, reservationOf } from "../../store/fixtures.ts";
import { requestHead } from "../raw-http.ts";
import { type Caller, openCaller } from "./sockets.ts";

const MEMORY = 512 << 20;
/** Of each kind. */
const CONNECTIONS = 80;
/** Calls of another team while they stand there. */
const CALLS = 200;
const MCP_LIST = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "memory_list", arguments: { library: "notes" } },
};

/** A team with a key, whose library is as full as a page can be. */
async function makeTenant(store: Store, content: string): Promise<string> {
  const home = await makeTeam(store);
  const library = libraryDraft(home, { name: "notes", displayName: "Notes" });
  const { result } = await change(store, null, (tx) => saveLibrary(tx, library));
  await sql`insert into atoms (library_id, team_id, content, tags, importance, created_at, updated_at)
    select ${result.libraryId}, ${home.teamId}, ${content} || n, '{}', 1, now(), now()
    from generate_series(1, 100) n`.execute(store.db);
  const plaintext = mintKey(randomBytes);
  const minted = { digest: keyDigest(plaintext), prefix: keyPrefix(plaintext), policy: policyOf({ scopes: SCOPES }) };
  const reservation = reservationOf(home, minted);
  await change(store, null, async (tx) => {
    await reserveVersion(tx, reservation);
    await activateVersion(tx, { keyId: reservation.key.id, number: 1, overlapMs: 0 });
  });
  return plaintext;
}

/** Asks, and reads nothing. */
function askUnread(port: number, requests: string): Caller {
  const caller = openCaller(port);
  caller.socket.pause();
  caller.socket.write(requests);
  return caller;
}

describeOnPostgres("answers that are not read", (store) => {
  test("b109: hold less than the chart's memory, sockets included, and no call of another team fails", async () => {
    const hostile = await makeTenant(store(), "x".repeat(65_000));
    const other = await makeTenant(store(), "something to remember ");
    const { href } = await databaseUrl(store());
    const cgroup = makeMemoryCgroup(MEMORY);
    const env = { KEYPLANE_DATABASE_URL: href, KEYPLANE_ENCRYPTION_KEY: randomBytes(32).toString("base64") };
    const args = ["server", "--port", "0", "--admin-port", "0"];
    const server = await startServing(args, env, [], undefined, cgroup.launcher);
    const port = Number(new URL(server.url).port);
    const authorization = { authorization: `Bearer ${other}` };
    const headers = {
      ...authorization,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    };
    const call = async (n: number): Promise<string> => {
      const path = n % 2 === 0 ? "/atoms?limit=20" : "/api/v1/memory/mcp";
      const body = n % 2 === 0 ? {} : { method: "POST", body: JSON.stringify(MCP_LIST) };
      const answer = await fetch(server.url + path, { headers, ...body });
      const text = await answer.text();
      return answer.status === 200 && !text.includes('"isError":true') ? "" : `${answer.status} ${text.slice(0, 200)}`;
    };
    await until("the key is known", async () => (await call(0)) === "");

    // One behind the other on each connection: what is refused is asked for again.
    const pages = requestHead("GET /atoms?limit=100 HTTP/1.1", [`Authorization: Bearer ${hostile}`]).repeat(2);
    const texts = requestHead("GET /openapi.json HTTP/1.1") + requestHead("GET /docs/memory HTTP/1.1");
    const callers = Array.from({ length: CONNECTIONS }, () => [askUnread(port, pages), askUnread(port, texts)]).flat();
    const failed: string[] = [];
    for (let n = 0; n < CALLS; n++) {
      const wrong = await call(n).catch(String);
      if (wrong !== "") failed.push(wrong);
    }
    const peak = cgroup.peak();
    console.log(`peak: ${Math.round(peak / (1 << 20))} MiB; ${failed.length} calls of another team failed`);
    for (const { socket } of callers) socket.destroy();
    await server.stop();
    await cgroup.close();
    expect(server.child.signalCode).toBeNull();
    expect(failed).toEqual([]);
    expect(peak).toBeLessThan(0.8 * MEMORY);
  }, 120_000);
});
