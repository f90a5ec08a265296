import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { PRESETS } from "../../domain/access/scopes.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { parseServerConfig } from "../../server/config.ts";
import { startServer } from "../../server/main.ts";
import { change } from "../../store/database/change.ts";
import { EncryptionKeyError } from "../../store/database/errors.ts";
import { migrate } from "../../store/database/migrate.ts";
import { openPostgres } from "../../store/database/postgres.ts";
import { adoptFirstKey, assertKeyring } from "../../store/encryption-key.ts";
import { readReplicas } from "../../store/feed/replicas.ts";
import { saveGateway } from "../../store/gateways.ts";
import { type Keyring, parseKeyring } from "../../store/keyring.ts";
import { keyplane } from "../cli/up.ts";
import { freshDatabase } from "../env/engines.ts";
import { startOwnPostgres } from "../env/postgres.ts";
import { until } from "../env/until.ts";
import { startUpstream } from "../server/gateway/upstream.ts";
import { storeKey } from "../server/key-index/replica-fixtures.ts";
import { makeTeam, policyOf } from "../store/fixtures.ts";
import { feedHead } from "../store/questions.ts";
import { databaseBehindProxy } from "./feed-fixtures.ts";

describe("an encryption key that is rotated", () => {
  it("c41, c54: with half of the replicas restarted every call goes through, whichever key a credential is stored under", async (context) => {
    const { direct } = await databaseBehindProxy(context);
    const [old, next] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")];
    const seen = new Set<string | undefined>();
    const upstream = await startUpstream((response, { headers }) => {
      seen.add(headers.authorization);
      response.end("{}");
    });
    context.onTestFinished(() => upstream.close());
    const home = await makeTeam(direct);
    const { cluster, namespace, teamId } = home;
    const key = await storeKey(direct, home, { policy: policyOf({ scopes: PRESETS.GatewayDefault }) });
    const save = (credential: string, keyring: Keyring) =>
      change(direct, null, (tx) =>
        saveGateway(
          tx,
          {
            ...{ cluster, namespace, name: "main", ownerUid: "main", teamId, publicId: "main" },
            ...{ routesOnly: false, routes: [] },
            upstreams: [{ name: "model", dialect: "openai", baseUrl: upstream.url, credential }],
          },
          keyring,
        ),
      );

    async function start(keys: string) {
      const config = parseServerConfig({}, { port: "0", adminPort: "0", allowPrivateUpstreams: "127.0.0.0/8" });
      const log = createLog("silent");
      const server = await startServer({ store: direct, config, keyring: parseKeyring(keys), clock: systemClock, log });
      context.onTestFinished(() => server.close());
      await server.whenCurrent;
      return server;
    }
    const call = async (url: string) => {
      const headers = { authorization: `Bearer ${key.plaintext}`, "content-type": "application/json" };
      const answer = await fetch(`${url}/g/main/v1/embeddings`, { method: "POST", headers, body: '{"model":"m"}' });
      await answer.text();
      return answer.status;
    };

    await save("sk-first", parseKeyring(old));
    const waiting = await start(`${old}\n${next}`);
    const restarted = await start(`${next}\n${old}`);
    const statuses: number[] = [];
    let calling = true;
    const caller = (async () => {
      while (calling) statuses.push(...(await Promise.all([call(waiting.url), call(restarted.url)])));
    })();
    const everyReplicaKnows = async () => {
      const head = await feedHead(direct);
      await until("every replica knows", async () =>
        (await readReplicas(direct, 0)).replicas.every(({ ackedSeq }) => ackedSeq >= head),
      );
      const made = statuses.length;
      await until("both were called since", () => statuses.length > made + 4);
    };
    await everyReplicaKnows();
    await adoptFirstKey(direct, parseKeyring(`${next}\n${old}`));
    await everyReplicaKnows();
    await save("sk-second", parseKeyring(`${old}\n${next}`));
    await everyReplicaKnows();
    await adoptFirstKey(direct, parseKeyring(`${old}\n${next}`));
    await save("sk-third", parseKeyring(`${next}\n${old}`));
    await everyReplicaKnows();
    // Neither is to be found by a server that has a third one alone, nor does that one come first.
    const third = randomBytes(32).toString("base64");
    await expect(start(third)).rejects.toThrow(EncryptionKeyError);
    await expect(adoptFirstKey(direct, parseKeyring(`${third}\n${old}`))).rejects.toThrow(
      /not given to 2 of the servers/,
    );
    calling = false;
    await caller;
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    expect([...seen]).toEqual(["Bearer sk-first", "Bearer sk-second", "Bearer sk-third"]);
  });

  it("c54: is asked for also by a database that was down at the start: the server ends", async (context) => {
    const database = await startOwnPostgres();
    const store = await openPostgres(database.url);
    context.onTestFinished(async () => {
      await store.close();
      await database.stop();
    });
    await migrate(store);
    await assertKeyring(store.db, parseKeyring(randomBytes(32).toString("base64")));
    await database.kill();
    const server = await startServer({
      ...{ store, clock: systemClock, log: createLog("silent") },
      config: parseServerConfig({}, { port: "0", adminPort: "0" }),
      keyring: parseKeyring(randomBytes(32).toString("base64")),
    });
    context.onTestFinished(() => server.close());
    await database.restart();
    expect(await server.failed).toBeInstanceOf(EncryptionKeyError);
  });

  it.each(["server", "controller"])(
    "c54: other than the database's ends keyplane %s at its start, with the next step",
    async (command) => {
      const { url, drop } = await freshDatabase();
      const store = await openPostgres(url);
      const [own, other] = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64"));
      try {
        await migrate(store);
        await assertKeyring(store.db, parseKeyring(String(own)));
        const ports = ["--admin-port", "0", ...(command === "server" ? ["--port", "0"] : [])];
        const { code, err } = await keyplane([command, "--database-url", url, ...ports], {
          KEYPLANE_ENCRYPTION_KEY: String(other),
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
