/** Proxies of docs/guides, of which one is known by a token, where another program is in the verifier's place. */
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { makeCertificate } from "../../env/certificate.ts";
import { requestHead, sendRaw } from "../raw-http.ts";
import { startGrpcVerifier } from "./grpc-harness.ts";
import { asksByGrpc, type GuideProxy, makeFiles, PROXIES, startGuideProxy, startService } from "./guide-proxies.ts";
import { startVerifier } from "./verifier-harness.ts";

const STARTED = 600_000;
const OPENAI = { name: "o", dialect: "openai", baseUrl: "http://127.0.0.1:1", credential: "sk" } as const;
const GUIDES: readonly [what: string, name: GuideProxy, byToken: boolean][] = [
  ...PROXIES.map((name): [string, GuideProxy, boolean] => [name, name, false]),
  ["nginx with a token instead of certificates", "nginx", true],
];

test.each(GUIDES)(
  "b390: %s lets a key through by the verifier's word, and by no other program's",
  async (_what, name, byToken) => {
    const ends: (() => unknown)[] = [];
    try {
      const files = await makeFiles();
      ends.push(() => files.remove());
      const service = await startService();
      ends.push(() => service.close());
      const knowsToken = byToken || name === "caddy";
      const tls = { certFile: files.tlsCert, keyFile: files.tlsKey, clientCaFile: knowsToken ? null : files.tlsCert };
      const start = asksByGrpc(name) ? startGrpcVerifier : startVerifier;
      const verifier = await start({ tls, tokenFile: knowsToken ? files.token : null });
      ends.push(() => verifier.close());
      verifier.addGateway({ publicId: "research-main", upstreams: [OPENAI] });
      const asked: unknown[] = [];
      const other = createServer(makeCertificate(undefined, "verifier.example.com"), (question, response) => {
        asked.push(question.rawHeaders);
        response.end();
      });
      await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
      ends.push(() => other.close());
      const callBy = async (verifierPort: number) => {
        const proxy = await startGuideProxy(name, { verifierPort, servicePort: service.port, files, byToken });
        ends.push(() => proxy.stop());
        const head = requestHead("GET /v1/models HTTP/1.1", [`Authorization: Bearer ${verifier.addKey()}`]);
        return (await sendRaw(proxy.port, head)).status;
      };
      expect(await callBy(verifier.authzPort)).toBe(200);
      expect(service.sent).toHaveLength(1);
      expect(await callBy((other.address() as AddressInfo).port)).toBeGreaterThanOrEqual(500);
      expect([service.sent.length, asked]).toEqual([1, []]);
    } finally {
      for (const end of ends.toReversed()) await end();
    }
  },
  STARTED,
);
