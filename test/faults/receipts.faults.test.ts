/** What a receipt says while a replica is out of reach, and what that replica does by then. */
import { describe, expect, it, type TestContext } from "vitest";
import { LEASE_MARGIN_MS, LEASE_MS } from "../../domain/protocol.ts";
import { managementToken } from "../../server/auth/management/management-token.ts";
import { until } from "../env/until.ts";
import { startCurrentServer } from "../server/current-server.ts";
import { startUpstream } from "../server/gateway/upstream.ts";
import { keyring } from "../server/key-index/replica-fixtures.ts";
import { ask, TOKEN } from "../server/management/api.ts";
import { makeTeam } from "../store/fixtures.ts";
import { type DatabaseBehindProxy, databaseBehindProxy } from "./feed-fixtures.ts";
import { callMainGateway, LOOPBACK_UPSTREAMS, saveMainGateway, storeGatewayKey } from "./gateway-fixtures.ts";

/** An upstream that answers with streams that it does not end. */
async function startEndlessUpstream(context: TestContext) {
  const upstream = await startUpstream((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
    const beat = setInterval(() => response.write("data: 2\n\n"), 100);
    response.once("close", () => clearInterval(beat));
  });
  context.onTestFinished(() => upstream.close());
  return upstream;
}

/** Two replicas: one near its database, and one that reaches it through the proxy. */
async function startReplicas(context: TestContext, { direct, store, feedStore }: DatabaseBehindProxy) {
  const options = { flags: LOOPBACK_UPSTREAMS, managementToken: managementToken("of-this-test", TOKEN) };
  return {
    near: await startCurrentServer(context, { ...options, store: direct }),
    far: await startCurrentServer(context, { ...options, store, feedStore }),
  };
}

/** What a stream was until it ended, and when that was, on the steady clock. */
async function readToEnd(stream: Response): Promise<{ text: string; endedAt: number }> {
  const text = await stream.text();
  return { text, endedAt: performance.now() };
}

describe("a receipt", () => {
  it("b24: is not confirmed while a replica out of reach may serve; once it is, that one refuses and its streams are cut", async (context) => {
    const database = await databaseBehindProxy(context);
    const home = await makeTeam(database.direct);
    const upstream = await startEndlessUpstream(context);
    await saveMainGateway(database.direct, home, { baseUrl: upstream.url }, keyring);
    const { plaintext, keyId } = await storeGatewayKey(database.direct, home);
    const { near, far } = await startReplicas(context, database);
    const stream = await callMainGateway(far, plaintext);
    expect(stream.status).toBe(200);
    const cut = readToEnd(stream);

    database.proxy.freeze();
    const revokedAt = performance.now();
    const receipt = await ask(near.url, TOKEN, "POST", `/keys/${keyId}/revoke`);
    expect(receipt.body).toEqual({ sequence: expect.any(Number), confirmed: false });
    expect((await callMainGateway(near, plaintext)).status).toBe(401);
    const isConfirmed = async () => (await ask(near.url, TOKEN, "GET", `/keys/${keyId}`)).body.revocation.confirmed;
    await until("the receipt is confirmed", isConfirmed);
    const confirmedAt = performance.now();
    expect((await callMainGateway(far, plaintext)).status).toBe(503);
    expect(confirmedAt - revokedAt).toBeLessThan(LEASE_MS + LEASE_MARGIN_MS + 3_000);

    const { text, endedAt } = await cut;
    expect(text).toContain("The answer was ended");
    expect(endedAt).toBeLessThanOrEqual(confirmedAt);
    expect(endedAt - revokedAt).toBeLessThan(LEASE_MS + 500);

    database.proxy.thaw();
    await until("it follows again, and knows", async () => (await callMainGateway(far, plaintext)).status === 401);
  });
});
