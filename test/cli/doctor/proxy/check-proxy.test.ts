/** Doctor's requests to a proxy: how many they are, and where the key goes. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type TestContext, test } from "vitest";
import { checkProxy } from "../../../../cli/doctor/proxy/check-proxy.ts";
import { PROBLEMS } from "../../../../server/http/problems/catalogue.ts";
import { makeCertificate } from "../../../env/certificate.ts";
import { freePort } from "../../../env/free-port.ts";
import { keyplane } from "../../up.ts";

const KEY = `inf_${"k".repeat(57)}`;
const UNAUTHORIZED = JSON.stringify({ error: { code: "unauthorized", message: PROBLEMS.unauthorized.detail } });

async function listen({ onTestFinished }: TestContext, answer: RequestListener): Promise<URL> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

test("c98: doctor sends a proxy less than 60 requests, whatever it answers, and shows the key nowhere", async (context) => {
  const heads: (readonly string[])[] = [];
  const echoPort = await freePort();
  const url = await listen(context, async (request, response) => {
    heads.push(request.rawHeaders);
    if (!JSON.stringify(request.rawHeaders).includes(KEY)) {
      response.writeHead(401).end(UNAUTHORIZED);
      return;
    }
    // It passes all of it on, as the worst of proxies.
    const { method = "GET", headers } = request;
    await fetch(`http://127.0.0.1:${echoPort}${request.url}`, {
      ...{ method, headers: { "user-agent": headers["user-agent"] ?? "", authorization: headers.authorization ?? "" } },
    });
    response.end(JSON.stringify(request.rawHeaders));
  });
  const findings = await checkProxy({ url, key: KEY, echoPort });
  expect(heads.length).toBeGreaterThan(50);
  expect(heads.length).toBeLessThan(60);
  expect(findings.map(({ name }) => name)).toContain("proxy-service");
  expect(JSON.stringify(findings)).not.toContain(KEY.slice(4));
});

test.for([301, 302, 307, 308])("c98: the key follows no redirect (%i)", async (status, context) => {
  const asked: unknown[] = [];
  const other = await listen(context, (request, response) => {
    asked.push(request.rawHeaders);
    response.end();
  });
  const url = await listen(context, (request, response) => {
    const isKeyless = request.headers.authorization !== `Bearer ${KEY}`;
    if (isKeyless) response.writeHead(401).end(UNAUTHORIZED);
    else response.writeHead(status, { location: other.href }).end();
  });
  await checkProxy({ url, key: KEY, echoPort: undefined });
  expect(asked).toEqual([]);
});

test("c98: a proxy whose certificate is not trusted is sent nothing, and the way out is named", async ({
  onTestFinished,
}) => {
  let requests = 0;
  const server = createTlsServer(makeCertificate(), (_request, response) => {
    requests += 1;
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const findings = await checkProxy({ url: new URL(`https://127.0.0.1:${port}/`), key: KEY, echoPort: undefined });
  expect([requests, findings[0]?.name, findings[0]?.severity]).toEqual([0, "proxy-connection", "error"]);
  expect(findings[0]?.action).toContain("NODE_EXTRA_CA_CERTS");
});

test("c98: a proxy that lets all through is sent no key", async (context) => {
  const heads: unknown[] = [];
  const url = await listen(context, (request, response) => {
    heads.push(request.rawHeaders);
    response.end("served");
  });
  const findings = await checkProxy({ url, key: KEY, echoPort: undefined });
  expect(heads).toHaveLength(1);
  expect(JSON.stringify(heads)).not.toContain("inf_");
  expect(findings.map(({ name, severity }) => [name, severity])).toEqual([
    ["proxy-keys", "error"],
    ["proxy-keys", "note"],
  ]);
});

test("c97: a stream that is open to all is named, though it does not end", async (context) => {
  const url = await listen(context, (_request, response) => {
    response.write("data: x\n\n");
  });
  const [finding] = await checkProxy({ url, key: KEY, echoPort: undefined });
  expect([finding?.name, finding?.message]).toEqual(["proxy-keys", `${url.href} is answered with 200 without a key`]);
});

test("c98: what is no request of doctor's gets 503 of its echo, and is not counted", async (context) => {
  const echoPort = await freePort();
  const statuses: number[] = [];
  const url = await listen(context, async (_request, response) => {
    statuses.push((await fetch(`http://127.0.0.1:${echoPort}/`)).status);
    response.writeHead(401).end(UNAUTHORIZED);
  });
  const findings = await checkProxy({ url, key: undefined, echoPort });
  expect(new Set(statuses)).toEqual(new Set([503]));
  expect(findings.filter(({ name }) => name === "proxy-keys").map(({ severity }) => severity)).toEqual(["ok", "note"]);
});

test("doctor --authz takes the key from a file, exits with 1 for a mistake and prints it in JSON", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-doctor-"));
  context.onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "key");
  await writeFile(file, `${KEY}\n`);
  const url = await listen(context, (request, response) => {
    if (request.headers.authorization === `Bearer ${KEY}`) response.end("served");
    else response.writeHead(request.url === "/v1/files" ? 200 : 401).end(UNAUTHORIZED);
  });
  const { code, out, err } = await keyplane(["doctor", "--authz", url.href, "-o", "json"], { KEYPLANE_KEY_FILE: file });
  expect([code, err]).toEqual([1, ""]);
  expect(JSON.parse(out).findings).toContainEqual({
    ...{ name: "proxy-keys", severity: "error" },
    message: "GET /v1/files is answered with 200 without a key",
    action: expect.stringContaining("auth_request"),
  });
  expect(out).not.toContain(KEY.slice(4));
});

test("c97: doctor --authz says in its last line that it has not checked all", async (context) => {
  const url = await listen(context, ({ url = "", method }, response) => {
    const code = url.includes("?key=") ? "invalid_request" : method === "M-SEARCH" ? "forbidden" : "unauthorized";
    const { status, detail } = PROBLEMS[code];
    response.writeHead(status).end(JSON.stringify({ error: { code, message: detail } }));
  });
  const { code, out } = await keyplane(["doctor", "--authz", url.href]);
  expect([code, out.trimEnd().split("\n").at(-1)]).toEqual([0, "nothing is wrong in what was checked"]);
});

test.each<[string, readonly string[], string]>([
  ["an echo of no proxy", ["--authz-echo", "9000"], "--authz-echo: give it together with --authz URL"],
  [
    "a key for no proxy",
    ["--key-file", "key", "--server", "http://s"],
    "--key-file: give it together with --authz URL",
  ],
  ["what is no port", ["--authz", "http://p/", "--authz-echo", "0"], "--authz-echo: must be a port"],
  ["what is no URL", ["--authz", "p.example.com"], "--authz: must be an http or https URL"],
  ["a key in the URL", ["--authz", `http://p/${KEY}`], "--authz: a key belongs in no URL"],
  ["a key as the file", ["--authz", "http://p/", "--key-file", KEY], "--key-file takes the file that holds the key"],
])("c98: doctor refuses %s, and does not repeat it", async (_what, args, message) => {
  const { code, err } = await keyplane(["doctor", ...args]);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  expect(err).not.toContain(KEY.slice(4));
});
