import { randomBytes } from "node:crypto";
import { describe, expect, it, type TestContext } from "vitest";
import { type RunningServer, startServer } from "../../processes/main.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { parseServerConfig } from "../../server/context/config.ts";
import { EncryptionKeyError } from "../../store/database/errors.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { adoptFirstKey, assertKeyring } from "../../store/encryption/encryption-key.ts";
import { type Keyring, parseKeyring } from "../../store/encryption/keyring.ts";
import { readReplicas } from "../../store/replicas/replicas.ts";
import { keyplane } from "../cli/up.ts";
import { migratedDatabase } from "../env/database/engines.ts";
import { until } from "../env/until.ts";
import { startCurrentServer } from "../server/current-server.ts";
import { startUpstream } from "../server/gateway/upstream.ts";
import { makeTeam } from "../store/fixtures.ts";
import { feedHead } from "../store/questions.ts";
import { databaseBehindProxy } from "./feed-fixtures.ts";
import { callMainGateway, LOOPBACK_UPSTREAMS, saveMainGateway, storeGatewayKey } from "./gateway-fixtures.ts";

const newKey = () => randomBytes(32).toString("base64");

/** An upstream that notes the credentials it is called with. */
async function startNotingUpstream(context: TestContext) {
  const seen = new Set<string | undefined>();
  const upstream = await startUpstream((response, { headers }) => {
    seen.add(headers.authorization);
    response.end("{}");
  });
  context.onTestFinished(() => upstream.close());
  return { url: upstream.url, seen };
}

/** Calls the gateway `main` of each server again and again, until it is stopped, or the test has ended. */
function keepCalling(context: TestContext, servers: readonly RunningServer[], plaintext: string) {
  const statuses: number[] = [];
  const call = async (server: RunningServer) => {
    const answer = await callMainGateway(server, plaintext);
    await answer.text();
    return answer.status;
  };
  let isEnded = false;
  const calling = (async () => {
    while (!isEnded) statuses.push(...(await Promise.all(servers.map(call))));
  })();
  const end = async () => {
    isEnded = true;
    await calling;
  };
  context.onTestFinished(end);
  return { statuses, end };
}

describe("an encryption key that is rotated", () => {
  it("c41, c54: with half of the replicas restarted every call goes through, whichever key a credential is stored under", async (context) => {
    const { direct: store } = await databaseBehindProxy(context);
    const [old, next] = [newKey(), newKey()];
    const [oldFirst, nextFirst] = [parseKeyring(`${old}\n${next}`), parseKeyring(`${next}\n${old}`)];
    const home = await makeTeam(store);
    const upstream = await startNotingUpstream(context);
    const saveCredential = (credential: string, keyring: Keyring) =>
      saveMainGateway(store, home, { baseUrl: upstream.url, credential }, keyring);
    await saveCredential("sk-first", parseKeyring(old));
    const key = await storeGatewayKey(store, home);
    const start = (keyring: Keyring) => startCurrentServer(context, { store, keyring, flags: LOOPBACK_UPSTREAMS });
    const replicas = [await start(oldFirst), await start(nextFirst)];
    const calls = keepCalling(context, replicas, key.plaintext);
    const untilBothAreCalledWithIt = async () => {
      const head = await feedHead(store);
      await until("every replica knows", async () =>
        (await readReplicas(store, 0)).replicas.every(({ ackedSeq }) => ackedSeq >= head),
      );
      const made = calls.statuses.length;
      await until("both were called since", () => calls.statuses.length > made + 4);
    };

    await untilBothAreCalledWithIt();
    await adoptFirstKey(store, nextFirst);
    await untilBothAreCalledWithIt();
    await saveCredential("sk-second", oldFirst);
    await untilBothAreCalledWithIt();
    await adoptFirstKey(store, oldFirst);
    await saveCredential("sk-third", nextFirst);
    await untilBothAreCalledWithIt();
    // Neither is to be found by a server that has a third one alone, nor does that one come first.
    const third = newKey();
    await expect(start(parseKeyring(third))).rejects.toThrow(EncryptionKeyError);
    const thirdFirst = parseKeyring(`${third}\n${old}`);
    await expect(adoptFirstKey(store, thirdFirst)).rejects.toThrow(/not given to 2 of the servers/);

    await calls.end();
    expect(calls.statuses.filter((status) => status !== 200)).toEqual([]);
    expect([...upstream.seen]).toEqual(["Bearer sk-first", "Bearer sk-second", "Bearer sk-third"]);
  });

  it("c54: is asked for also by a database that was down at the start: the server ends", async (context) => {
    const { direct, store, proxy } = await databaseBehindProxy(context);
    await assertKeyring(direct.db, parseKeyring(newKey()));
    proxy.cut();
    const server = await startServer({
      ...{ store, clock: systemClock, log: createLog("silent") },
      config: parseServerConfig({}, { port: "0", adminPort: "0" }),
      keyring: parseKeyring(newKey()),
    });
    context.onTestFinished(() => server.close());
    proxy.thaw();
    expect(await server.failed).toBeInstanceOf(EncryptionKeyError);
  });

  it.each(["server", "controller"])(
    "c54: other than the database's ends keyplane %s at its start, with the next step",
    async (command) => {
      const { url, drop } = await migratedDatabase();
      const store = await openPostgres(url);
      const [own, other] = [newKey(), newKey()];
      try {
        await assertKeyring(store.db, parseKeyring(own));
        const ports = ["--admin-port", "0", ...(command === "server" ? ["--port", "0"] : [])];
        const { code, err } = await keyplane([command, "--database-url", url, ...ports], {
          KEYPLANE_ENCRYPTION_KEY: other,
        });
        expect(code).toBe(1);
        expect(err).toMatch(/the encryption keys that are given are [0-9a-f]{16}\. Give that key/);
        expect(err).not.toContain(other);
      } finally {
        await store.close();
        await drop();
      }
    },
  );
});
