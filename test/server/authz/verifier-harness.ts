/** The verifier's listener on a loopback port, over the index of a harness. */
import type { AddressInfo } from "node:net";
import { createVerifierServer } from "../../../server/authz/verifier-server.ts";
import type { AuthzConfig } from "../../../server/context/config.ts";
import { type HarnessOptions, startHarness } from "../harness.ts";
import { type RawAnswer, requestHead, sendRaw } from "../raw-http.ts";

/** A question, as a proxy may ask it. */
export type Question = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: readonly string[];
  readonly body?: string;
};

export type Verifier = Awaited<ReturnType<typeof startVerifier>>;

export async function startVerifier(authz: Partial<AuthzConfig> = {}, options: HarnessOptions = {}) {
  const harness = await startHarness(options);
  const config = { tls: null, tokenFile: null, addressHeader: "x-real-ip", ...authz };
  const { server, end } = await createVerifierServer(harness.deps, config);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...harness,
    authzPort: port,
    /** Asks, and reads the answer. */
    ask({ method = "GET", path, headers = [], body }: Question): Promise<RawAnswer> {
      const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
      const head = requestHead(`${method} ${path} HTTP/1.1`, [...headers, ...length]);
      return sendRaw(port, Buffer.from(head + (body ?? "")));
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      server.close();
      await end();
      await harness.close();
    },
  };
}

/** The value of a header of an answer; undefined where it has none. */
export function headerIn({ head }: RawAnswer, name: string): string | undefined {
  return new RegExp(`^${name}: ?(.*)$`, "im").exec(head)?.[1]?.trim();
}

/** The proxies that the verifier knows; the first is given all in headers. */
export const [NGINX, ...OTHERS] = ["nginx", "caddy", "traefik", "envoy"] as const;

/** The headers in which each proxy shows a request, with a key. */
export function shownBy(proxy: string, method: string, target: string, key: string): readonly string[] {
  const carried = key === "" ? [] : [`Authorization: Bearer ${key}`];
  if (proxy === NGINX) return [`X-Original-Method: ${method}`, `X-Original-URI: ${target}`, ...carried];
  return [`X-Forwarded-Method: ${method}`, `X-Forwarded-Uri: ${target}`, ...carried];
}
