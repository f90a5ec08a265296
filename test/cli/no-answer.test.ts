/** A server that is there, and what stands between it and its client: each is named, with the way out. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openApi } from "../../infra/pulumi/provider/api/api.ts";
import { makeCertificate } from "../env/certificate.ts";
import { keyplane } from "./up.ts";

const plain = createServer((_, response) => response.end("{}"));
const moved = createServer((_, response) => response.writeHead(308, { location: "https://127.0.0.1:1" }).end());
const untrusted = createTlsServer(makeCertificate(), (_, response) => response.end("{}"));
const servers = [plain, moved, untrusted];

beforeAll(async () => {
  for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  for (const server of servers) server.close();
});

const at = (scheme: string, server: Server) => `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;

const CASES: readonly (readonly [what: string, url: () => string, way: string])[] = [
  [
    "a certificate of an authority that is not known here",
    () => at("https", untrusted),
    "its certificate is of no authority that is known here: name a file with that authority, in PEM, by the variable NODE_EXTRA_CA_CERTS",
  ],
  [
    "a redirect, as from http to https",
    () => at("http", moved),
    "it sends callers to another URL: give that one, most often with https",
  ],
  [
    "https where no TLS is spoken",
    () => at("https", plain),
    "no TLS is spoken there: see the port in the URL, or write http where the server is on this machine",
  ],
  [
    "a host that has no address",
    () => "https://keys.nowhere.invalid",
    "see the host's name in the URL, and that this machine can resolve it",
  ],
];

test.each(CASES)("c85: a command, doctor and Pulumi's provider name %s", async (_, urlOf, way) => {
  const url = urlOf();
  const { err } = await keyplane(["get", "keys", "--server", url], { KEYPLANE_TOKEN: "t" });
  expect(err).toMatch(/^keyplane: no answer from /);
  expect(err).toContain(`: ${way}\n`);

  const { out } = await keyplane(["doctor", "--server", url]);
  expect(out).toContain(`server-connection: no answer from ${url}`);
  expect(out).toContain(`\n       ${way}\n`);

  const failed = openApi({ url, token: "t", tokenFile: undefined }).send("GET", "keys");
  await expect(failed).rejects.toThrow(`: ${way}, then run it again`);
});
