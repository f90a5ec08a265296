/** The guide's nginx before a running `keyplane up`: TLS, the Host, addresses, streams and MCP. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type RequestOptions, request } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { read } from "../../architecture/sources.ts";
import { key, makeHome, startUp, team, tokenOf, type Up } from "../../cli/up.ts";
import { makeCertificate } from "../../env/certificate.ts";
import { freePort } from "../../env/free-port.ts";
import { startNginxWith } from "../../env/nginx.ts";

const HOST = "keys.example.com";
const home = makeHome();
const { cert, key: certKey } = makeCertificate();
const ends: (() => Promise<unknown>)[] = [];
const chunk = Promise.withResolvers<void>();
/** A provider whose answer's second half waits for the client to have had the first. */
const upstream = createServer((call, response) => {
  call.resume();
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write("data: first\n\n");
  void chunk.promise.then(() => response.end("data: [DONE]\n\n"));
});
let up: Up;
let port: number;

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-proxy-"));
  ends.push(() => rm(folder, { recursive: true }));
  await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
  const provider = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  home.write(
    "all.yaml",
    team("tools", "dev") + key("agent", "scopes: [gateway:generate, memory:read]") + gateway(provider),
  );
  const [publicUrl, trusted] = ["--public-url", "--trusted-proxies"].map((flag) => givenTo(flag));
  expect(trusted).toBe("10.0.0.0/8");
  up = await startUp(home, {
    KEYPLANE_PUBLIC_URL: publicUrl ?? "",
    KEYPLANE_TRUSTED_PROXIES: "127.0.0.1/32",
    KEYPLANE_ALLOW_PRIVATE_UPSTREAMS: "127.0.0.0/8",
  });
  ends.push(() => up.stop());
  await up.waitFor("dev", "agent", "Ready");
  port = await freePort();
  await writeFile(join(folder, "tls.crt"), cert);
  await writeFile(join(folder, "tls.key"), certKey);
  const nginx = await startNginxWith(sitesOf(folder), port);
  ends.push(() => nginx.stop());
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
  upstream.close();
  home.remove();
});

const page = read("docs/guides/proxy.md");

/** What the table gives a flag. */
function givenTo(flag: string): string | undefined {
  return new RegExp(`\`${flag} (\\S+)\``).exec(page)?.[1];
}

/** The guide's blocks, with this machine's address and files. */
function sitesOf(folder: string): string {
  const blocks = [...page.matchAll(/```nginx\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  expect(blocks).toHaveLength(2);
  return Object.entries({
    "server 127.0.0.1:8080;": `server ${new URL(up.url).host};`,
    "listen 443 ssl;": `listen 127.0.0.1:${port} ssl;`,
    "/etc/nginx/keys.example.com.crt": `${folder}/tls.crt`,
    "/etc/nginx/keys.example.com.key": `${folder}/tls.key`,
  }).reduce((all, [from, to]) => all.replace(from, to), blocks.join("\n"));
}

const gateway = (provider: string) => `
apiVersion: keyplane.dev/v1alpha1
kind: ModelGateway
metadata: { name: models, namespace: dev }
spec:
  publicID: dev-models
  upstreams: [{ name: p, dialect: openai, baseURL: ${provider}, credentialRef: { name: provider } }]
---
apiVersion: v1
kind: Secret
metadata: { name: provider, namespace: dev }
stringData: { api-key: any }
`;

/** A call through the proxy, from another address than its own. */
function call(method: string, path: string, token: string, body?: object, options: RequestOptions = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<import("node:http").IncomingMessage>();
  const headers = {
    host: HOST,
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "x-forwarded-for": "203.0.113.9",
    ...options.headers,
  };
  const where = {
    host: "127.0.0.1",
    port,
    ca: cert,
    checkServerIdentity: () => undefined,
    localAddress: "127.0.0.2",
    agent: false,
  };
  request({ ...where, method, path, headers }, resolve)
    .once("error", reject)
    .end(body && JSON.stringify(body));
  return promise;
}

describe("behind the guide's nginx", () => {
  const agent = () => up.secretOf("dev", "agent");

  it("a key works by TLS, and MCP answers the public Host alone", async () => {
    expect((await call("GET", "/atoms", agent())).resume().statusCode).toBe(200);
    const initialize = {
      ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
    };
    const accept = { accept: "application/json, text/event-stream" };
    const mcp = (headers: object) =>
      call("POST", "/api/v1/memory/mcp", agent(), initialize, { headers: { ...accept, ...headers } });
    expect((await mcp({})).resume().statusCode).toBe(200);
    expect((await mcp({ host: "elsewhere.example.com" })).resume().statusCode).toBe(403);
  });

  it("an address is the client's, and not what it says of itself", async () => {
    const made = await call("POST", "/api/v1/teams", tokenOf(home), { name: "by-proxy", spec: {} });
    expect(made.resume().statusCode).toBe(201);
    const events = await text(await call("GET", "/api/v1/audit-events?action=team.created", tokenOf(home)));
    expect(events).toContain("127.0.0.2");
    expect(events).not.toContain("203.0.113.9");
  });

  it("a stream comes as it is made", async () => {
    const body = { model: "m", stream: true, messages: [{ role: "user", content: "Hello" }] };
    const answer = await call("POST", "/g/dev-models/v1/chat/completions", agent(), body);
    expect(answer.statusCode).toBe(200);
    const pieces: string[] = [];
    for await (const piece of answer.setEncoding("utf8")) {
      pieces.push(piece);
      chunk.resolve();
    }
    expect(pieces.join("")).toBe("data: first\n\ndata: [DONE]\n\n");
  });
});
