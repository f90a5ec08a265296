/** What a receipt says while a replica is out of reach, and what that replica does by then. */
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { PRESETS } from "../../domain/access/scopes.ts";
import { LEASE_MARGIN_MS, LEASE_MS } from "../../domain/protocol.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createLog } from "../../runtime/log.ts";
import { managementToken } from "../../server/auth/management-token.ts";
import { parseServerConfig } from "../../server/config.ts";
import { startServer } from "../../server/main.ts";
import { change } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import { saveGateway } from "../../store/gateways.ts";
import { parseKeyring } from "../../store/keyring.ts";
import { until } from "../env/until.ts";
import { startUpstream } from "../server/gateway/upstream.ts";
import { storeKey } from "../server/key-index/replica-fixtures.ts";
import { makeTeam, policyOf } from "../store/fixtures.ts";
import { databaseBehindProxy } from "./feed-fixtures.ts";

const TOKEN = "kpt_a-token-of-this-test";

describe("a receipt", () => {
  it("b24: is not confirmed while a replica out of reach may serve; once it is, that one refuses and its streams are cut", async (context) => {
    const database = await databaseBehindProxy(context);
    const { direct, proxy } = database;
    const keyring = parseKeyring(randomBytes(32).toString("base64"));
    const upstream = await startUpstream((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
      const beat = setInterval(() => response.write("data: 2\n\n"), 100);
      response.once("close", () => clearInterval(beat));
    });
    context.onTestFinished(() => upstream.close());
    const home = await makeTeam(direct);
    const { cluster, namespace, teamId } = home;
    const upstreams = [{ name: "model", dialect: "openai", baseUrl: upstream.url, credential: "sk-x" }] as const;
    const gateway = { cluster, namespace, name: "main", ownerUid: "main", teamId, publicId: "main", upstreams };
    await change(direct, null, (tx) => saveGateway(tx, { ...gateway, routesOnly: false, routes: [] }, keyring));
    const key = await storeKey(direct, home, { policy: policyOf({ scopes: PRESETS.GatewayDefault }) });

    async function start(store: Store, feedStore: Store) {
      const config = parseServerConfig({}, { port: "0", adminPort: "0", allowPrivateUpstreams: "127.0.0.0/8" });
      const log = createLog("silent");
      const token = managementToken("of-this-test", TOKEN);
      const clock = systemClock;
      const server = await startServer({ store, feedStore, config, keyring, clock, log, managementToken: token });
      context.onTestFinished(() => server.close());
      await server.whenCurrent;
      return server;
    }
    const near = await start(direct, direct);
    const far = await start(database.store, database.feedStore);
    const call = (url: string) =>
      fetch(`${url}/g/main/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${key.plaintext}`, "content-type": "application/json" },
        body: '{"model":"m","stream":true}',
      });
    const manage = async (method: string, path: string) => {
      const answer = await fetch(`${near.url}/api/v1/keys/${key.keyId}${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}` },
      });
      return JSON.parse(await answer.text());
    };

    const stream = await call(far.url);
    expect(stream.status).toBe(200);
    let cutAt: number | undefined;
    const read = stream.text().then((text) => {
      cutAt = performance.now();
      return text;
    });
    proxy.freeze();
    const from = performance.now();
    const receipt = await manage("POST", "/revoke");
    expect(receipt).toEqual({ sequence: expect.any(Number), confirmed: false });
    expect((await call(near.url)).status).toBe(401);
    await until("the receipt is confirmed", async () => (await manage("GET", "")).revocation.confirmed);
    const confirmedAt = performance.now();
    expect((await call(far.url)).status).toBe(503);
    expect(confirmedAt - from).toBeLessThan(LEASE_MS + LEASE_MARGIN_MS + 3_000);
    const text = await read;
    expect(text).toContain("The answer was ended");
    expect(cutAt ?? 0).toBeLessThanOrEqual(confirmedAt);
    expect((cutAt ?? 0) - from).toBeLessThan(LEASE_MS + 500);

    proxy.thaw();
    await until("it follows again, and knows", async () => (await call(far.url)).status === 401);
  });
});
