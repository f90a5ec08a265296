/** examples/istio on Istio's own control plane and gateway. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import type { KeyRecord } from "../../../domain/access/key-record.ts";
import { read } from "../../architecture/sources.ts";
import { freePort } from "../../env/free-port.ts";
import { startIstio } from "../../env/istio/istio.ts";
import { requestHead, sendRaw } from "../raw-http.ts";
import { type GrpcVerifier, startGrpcVerifier } from "./grpc-harness.ts";
import { makeFiles, startService } from "./guide-proxies.ts";

const EXAMPLE = read("examples/istio/models.yaml");
const OPENAI = { name: "o", dialect: "openai", baseUrl: "http://127.0.0.1:1", credential: "sk" } as const;
const CHAT = "/v1/chat/completions";
const BODY = '{"model":"gpt","messages":[]}';
const JSON_TYPE = "Content-Type: application/json";
/** Milliseconds: where Istio is built first. */
const STARTED = 3_600_000;

/** What the example's objects have in place of this machine's. */
type Place = {
  readonly port: number;
  readonly verifierPort: number;
  readonly servicePort: number;
  readonly files: Awaited<ReturnType<typeof makeFiles>>;
};

/** Returns the example's mesh configuration, which its head shows. */
function meshOf(example: string): string {
  const lines = example.split("\n").filter((line) => line.startsWith("#   "));
  return lines.map((line) => line.slice(4)).join("\n");
}

/** Returns the example's objects with certificates and addresses of this machine, and the Services that they name. */
function objectsAt({ port, verifierPort, servicePort, files }: Place): string {
  const objects = parseAllDocuments(EXAMPLE).map((document) => document.toJS());
  const specOf = (kind: string) => objects.find((object) => object.kind === kind).spec;
  Object.assign(specOf("Gateway").servers[0], {
    ...{ port: { number: port, name: "http", protocol: "HTTP" }, bind: "127.0.0.1", tls: undefined },
  });
  const { tls } = specOf("DestinationRule").trafficPolicy;
  Object.assign(tls, {
    ...{ credentialName: undefined, subjectAltNames: ["verifier.example.com"], caCertificates: files.tlsCert },
    ...{ clientCertificate: files.tlsCert, privateKey: files.tlsKey },
  });
  const { host, port: at } = specOf("VirtualService").http[0].route[0].destination;
  const services = [
    entry(specOf("DestinationRule").host, { name: "grpc-authz", number: 9091, protocol: "GRPC" }, verifierPort),
    entry(host, { name: "http", number: at.number, protocol: "HTTP" }, servicePort),
  ];
  return [...objects, ...services].map((object) => stringify(object)).join("---\n");
}

type ServicePort = { readonly name: string; readonly number: number; readonly protocol: string };

/** Returns what stands for a Service of the cluster, with one endpoint on this machine. */
function entry(host: string, port: ServicePort, at: number): object {
  const [name, namespace] = host.split(".");
  return {
    ...{ apiVersion: "networking.istio.io/v1", kind: "ServiceEntry", metadata: { name, namespace } },
    spec: {
      ...{ hosts: [host], ports: [port], resolution: "STATIC" },
      endpoints: [{ address: "127.0.0.1", ports: { [port.name]: at } }],
    },
  };
}

let verifier: GrpcVerifier;
let port: number;
let service: Awaited<ReturnType<typeof startService>>;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  const files = await makeFiles();
  ends.push(() => files.remove());
  service = await startService();
  ends.push(() => service.close());
  const tls = { certFile: files.tlsCert, keyFile: files.tlsKey, clientCaFile: files.tlsCert };
  verifier = await startGrpcVerifier({ tls, addressHeader: null });
  ends.push(() => verifier.close());
  verifier.addGateway({ publicId: "research-main", upstreams: [OPENAI] });
  port = await freePort();
  const place = { port, verifierPort: verifier.authzPort, servicePort: service.port, files };
  const istio = await startIstio({
    ...{ objects: objectsAt(place), mesh: `enableAutoMtls: false\n${meshOf(EXAMPLE)}`, port },
    ...{ namespace: "istio-ingress", labels: { istio: "ingressgateway" } },
  });
  ends.push(() => istio.stop());
}, STARTED);
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});

/** Calls a model with a key; says what came back, and what the service was sent of it. */
async function chat(fields: Partial<KeyRecord>, headers: readonly string[] = [JSON_TYPE], body = BODY, target = CHAT) {
  const before = service.sent.length;
  const key = verifier.addKey(fields);
  const sending = [`Authorization: Bearer ${key}`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`];
  const head = requestHead(`POST ${target} HTTP/1.1`, sending).replace(/^Host: .*$/im, "Host: models.example.com");
  const answer = await sendRaw(port, Buffer.from(head + body));
  return { ...answer, key, sent: service.sent.slice(before) };
}

test("b389: a key gets through, and the service is sent whose it is, and no key", async () => {
  const claims = ["X-Keyplane-Team: forged", "x-keyplane-key: forged", "X-Keyplane-Namespace: forged"];
  const { status, key, sent } = await chat({ namespace: "" }, [JSON_TYPE, ...claims]);
  const { keyId, teamId } = verifier.recordOf(key);
  expect(status).toBe(200);
  expect(sent).toMatchObject([{ body: BODY, headers: { "x-keyplane-key": keyId, "x-keyplane-team": teamId } }]);
  expect(JSON.stringify(sent)).not.toMatch(new RegExp(`forged|${key.slice(4)}`));
});

test("b387: a large body of the key's model passes whole", async () => {
  const body = JSON.stringify({ model: "gpt", x: "y".repeat(3_000_000) });
  const { status, sent } = await chat({ allowedModels: ["gpt"] }, [JSON_TYPE], body);
  expect([status, sent.map((one) => one.body.length)]).toEqual([200, [body.length]]);
});

test.each<[string, Partial<KeyRecord>, readonly string[], string, string]>([
  ["another model", { allowedModels: ["gpt"] }, [JSON_TYPE], '{"model":"other"}', CHAT],
  ["two models", { allowedModels: ["gpt"] }, [JSON_TYPE], '{"model":"gpt","model":"other"}', CHAT],
  ["a compressed body", { allowedModels: ["gpt"] }, [JSON_TYPE, "Content-Encoding: gzip"], BODY, CHAT],
  ["a model in a header", { allowedModels: ["gpt"] }, [JSON_TYPE, "X-Model-Name: other"], BODY, CHAT],
  ["a key of some networks", { allowedCIDRs: ["127.0.0.0/8"] }, [JSON_TYPE, "X-Real-IP: 127.0.0.1"], BODY, CHAT],
  ["a revoked key", { state: "revoked" }, [JSON_TYPE], BODY, CHAT],
  ["a key with a limit of concurrent calls", { concurrent: 1 }, [JSON_TYPE], BODY, CHAT],
  ["a claim in another spelling", {}, [JSON_TYPE, "X_Keyplane_Team: forged"], BODY, CHAT],
  ["a method in a header", {}, [JSON_TYPE, "X-HTTP-Method-Override: DELETE"], BODY, CHAT],
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

test("a refusal is the caller's to read, in the format of its SDK", async () => {
  const { status, head, body } = await chat({ state: "revoked" });
  expect([status, body.includes("error"), /x-keyplane-request-id/i.test(head)]).toEqual([401, true, true]);
});

test("b390: where the verifier is gone, nothing is passed on", async () => {
  await verifier.close();
  ends.splice(2, 1);
  const { status, sent } = await chat({});
  expect([status, sent]).toEqual([503, []]);
});
