/** examples/envoy-gateway on the real Envoy, as Envoy Gateway configures it. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { freePort } from "../../env/free-port.ts";
import { findProxy, startProxy } from "../../env/python-proxies.ts";
import { requestHead, sendRaw } from "../raw-http.ts";
import { envoyOfGateway, objectOf } from "./envoy-gateway.ts";
import { makeFiles, startService } from "./guide-proxies.ts";
import { startVerifier, type Verifier } from "./verifier-harness.ts";

const OPENAI = { name: "o", dialect: "openai", baseUrl: "http://127.0.0.1:1", credential: "sk" } as const;
const CHAT = "/v1/chat/completions";
const BODY = '{"model":"gpt","messages":[]}';
const JSON_TYPE = "Content-Type: application/json";
const STARTED = 600_000;

describe("Envoy, as Envoy Gateway sets it up", () => {
  let verifier: Verifier;
  let port: number;
  let service: Awaited<ReturnType<typeof startService>>;
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    const files = await makeFiles();
    ends.push(() => files.remove());
    service = await startService();
    ends.push(() => service.close());
    const tls = { certFile: files.tlsCert, keyFile: files.tlsKey, clientCaFile: files.tlsCert };
    verifier = await startVerifier({ tls, addressHeader: null });
    ends.push(() => verifier.close());
    verifier.addGateway({ publicId: "research-main", upstreams: [OPENAI] });
    port = await freePort();
    const place = { port, verifierPort: verifier.authzPort, servicePort: service.port, files };
    const proxy = await startProxy("envoy", await findProxy("envoy"), envoyOfGateway(place), port);
    ends.push(() => proxy.stop());
  }, STARTED);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  /** Calls a model with a key; says what came back, and what the service was sent of it. */
  async function chat(fields: Partial<KeyRecord>, headers: readonly string[], body = BODY, target = CHAT) {
    const before = service.sent.length;
    const key = verifier.addKey(fields);
    const sending = [`Authorization: Bearer ${key}`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`];
    const { status } = await sendRaw(port, Buffer.from(requestHead(`POST ${target} HTTP/1.1`, sending) + body));
    return { status, key, sent: service.sent.slice(before) };
  }

  test("asks the Service that the chart makes, by the name that its certificate is for", () => {
    const [service] = objectOf("SecurityPolicy").spec.extAuth.http.backendRefs;
    expect(service).toEqual({ name: "keyplane-authz", namespace: "keyplane-system", port: 9090 });
    const { targetRefs, validation } = objectOf("BackendTLSPolicy").spec;
    expect(targetRefs).toMatchObject([{ name: "keyplane-authz", sectionName: "authz" }]);
    expect(validation.hostname).toBe("keyplane-authz.keyplane-system.svc");
  });

  test("b389: a key gets through, and the service is sent whose it is, and no key", async () => {
    const claims = ["X-Keyplane-Team: forged", "x-keyplane-key: forged", "X.Keyplane.Team: forged"];
    const { status, key, sent } = await chat({}, [JSON_TYPE, ...claims]);
    const { keyId, teamId } = verifier.recordOf(key);
    expect(status).toBe(200);
    expect(sent).toMatchObject([{ body: BODY, headers: { "x-keyplane-key": keyId, "x-keyplane-team": teamId } }]);
    expect(JSON.stringify(sent)).not.toMatch(new RegExp(`forged|${key.slice(4)}`));
  });

  test("b389: what a client claims of a key without a namespace reaches the service in no spelling", async () => {
    const { sent } = await chat({ namespace: "" }, [JSON_TYPE, "X-Keyplane-Namespace: forged"]);
    expect(sent).toHaveLength(1);
    expect(JSON.stringify(sent)).not.toContain("forged");
    expect((await chat({}, [JSON_TYPE, "X_Keyplane_Team: forged"])).sent).toEqual([]);
  });

  test.each([
    ...["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-URL", "X-Rewrite-URL"],
    ...["X-Portkey-Custom-Host", "X-Portkey-Provider", "Helicone-Target-URL", "Helicone-Fallbacks", "Api-Base"],
    ...["Base-URL", "OpenAI-ApiBase", "Upstream", "Target", "Provider", "Backend", "Endpoint", "Destination"],
    ...["X-Model", "Model", "Model-Id", "Deployment", "Deployment-Id", "Engine", "LoRA", "Adapters", "User-Config"],
    ...["mm-vmodel-id", "X-Amzn-SageMaker-Target-Variant", "Router-Settings-Override", "Prompt-Id"],
    ...["Content.Type", "Content~Encoding", "Transfer.Encoding", "Cookie"],
    ...["X-Envoy-Original-Path", "X-Envoy-Auth-Partial-Body", "X-API-Key", "X-Goog-Api-Key", "X-Real-IP"],
  ])("b386: %s of a client, which the verifier is not shown, reaches the service no more than it", async (name) => {
    const { status, sent } = await chat({ allowedModels: ["gpt"] }, [JSON_TYPE, `${name}: steered`]);
    expect(status).toBe(200);
    expect(JSON.stringify(sent)).not.toContain("steered");
  });

  test.each<[string, Partial<KeyRecord>, readonly string[], string, string]>([
    ["another model", { allowedModels: ["gpt"] }, [JSON_TYPE], '{"model":"other"}', CHAT],
    ["two models", { allowedModels: ["gpt"] }, [JSON_TYPE], '{"model":"gpt","model":"other"}', CHAT],
    ["a body called nothing", { allowedModels: ["gpt"] }, [], BODY, CHAT],
    ["a compressed body", { allowedModels: ["gpt"] }, [JSON_TYPE, "Content-Encoding: gzip"], BODY, CHAT],
    ["a key of some networks", { allowedCIDRs: ["127.0.0.0/8"] }, [JSON_TYPE], BODY, CHAT],
    ["a key of them with an address", { allowedCIDRs: ["127.0.0.0/8"] }, ["X-Real-IP: 127.0.0.1"], BODY, CHAT],
    ["a revoked key", { state: "revoked" }, [JSON_TYPE], BODY, CHAT],
    ["a key with a limit of concurrent calls", { concurrent: 1 }, [JSON_TYPE], BODY, CHAT],
    ["an upgrade", {}, ["Connection: Upgrade", "Upgrade: websocket"], "", CHAT],
    ["another operation", {}, [JSON_TYPE], BODY, "/v1/nowhere"],
    ["a key in the query", {}, [JSON_TYPE], BODY, `${CHAT}?key=x`],
    ["an encoded slash", {}, [JSON_TYPE], BODY, "/v1%2fchat/completions"],
    ["a double escape", {}, [JSON_TYPE], BODY, "/v1/%252e%252e/x"],
  ])("b386, b388, b462: the service is sent nothing of %s", async (_what, fields, headers, body, target) => {
    const { status, sent } = await chat(fields, headers, body, target);
    expect(sent).toEqual([]);
    expect(status).toBeGreaterThanOrEqual(300);
  });

  test("b387: a large body of the key's model passes whole", async () => {
    const body = JSON.stringify({ model: "gpt", x: "y".repeat(3_000_000) });
    const { status, sent } = await chat({ allowedModels: ["gpt"] }, [JSON_TYPE], body);
    expect([status, sent.map((one) => one.body.length)]).toEqual([200, [body.length]]);
  });

  test("b390: where the verifier is gone, nothing is passed on", async () => {
    await verifier.close();
    ends.splice(2, 1);
    const before = service.sent.length;
    const head = requestHead(`POST ${CHAT} HTTP/1.1`, ["Authorization: Bearer inf_x", "Content-Length: 0"]);
    expect((await sendRaw(port, head)).status).toBe(503);
    expect(service.sent.slice(before)).toEqual([]);
  });
});
