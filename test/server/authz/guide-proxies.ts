/** The proxies of docs/guides, each with its page's configuration, before a service that says what it was sent. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { read } from "../../architecture/sources.ts";
import { makeCertificate } from "../../env/certificate.ts";
import { freePort } from "../../env/free-port.ts";
import { startNginxWith } from "../../env/nginx.ts";
import { findProxy, startProxy } from "../../env/python-proxies.ts";
import { until } from "../../env/until.ts";

export const PROXIES = ["nginx", "envoy", "envoy by gRPC", "caddy", "traefik"] as const;
export type GuideProxy = (typeof PROXIES)[number] | "envoy in Istio";

const PAGES = {
  nginx: read("docs/guides/nginx-auth-request.md"),
  envoy: read("docs/guides/envoy.md"),
  "envoy by gRPC": read("docs/guides/envoy.md"),
  "envoy in Istio": read("docs/guides/envoy.md"),
  caddy: read("docs/guides/caddy.md"),
  traefik: read("docs/guides/traefik.md"),
} as const;

/** A token as `openssl rand -base64 32` makes one. */
export const TOKEN = "q7Vn0o2sXc9kLwP4tRz1mHyB8dFgJ6uE3aN5iKxQ0vM=";

/** What the service was sent. */
export type Sent = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
};

/** A service behind a proxy: it answers all, and notes what it was sent. */
export async function startService() {
  const sent: Sent[] = [];
  const service = createServer(async (request, response) => {
    const body = await text(request).catch(() => "");
    sent.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
    response.end("served");
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  return {
    sent,
    port: (service.address() as AddressInfo).port,
    close() {
      service.closeAllConnections();
      service.close();
    },
  };
}

/** The files of a verifier and of its proxies: one certificate is everyone's, and its own authority. */
export async function makeFiles() {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-authz-"));
  const { cert, key } = makeCertificate(undefined, "verifier.example.com", "127.0.0.1");
  const [tlsCert, tlsKey, token] = [join(folder, "tls.crt"), join(folder, "tls.key"), join(folder, "token")];
  await Promise.all([writeFile(tlsCert, cert), writeFile(tlsKey, key), writeFile(token, TOKEN, { mode: 0o600 })]);
  return { folder, tlsCert, tlsKey, token, remove: () => rm(folder, { recursive: true }) };
}

type Files = Awaited<ReturnType<typeof makeFiles>>;

/** What a page's configuration has in place of this machine's. */
type Place = {
  readonly verifierPort: number;
  readonly servicePort: number;
  readonly files: Files;
  /** Path behind the proxy's own at the verifier, in place of the page's. */
  readonly protects?: string;
  /** True if nginx is known by a token, as its page says that it may be. */
  readonly byToken?: boolean;
  /** Changes the page's configuration; undefined for the page's own. */
  readonly edit?: (configuration: string) => string;
};

/** Does to nginx's configuration what its page says under "A token instead of certificates". */
async function withToken(block: string, { folder }: Files): Promise<string> {
  const said = /begin with `(\w+)` by\s+`(include ([^;]*);)`[^`]*`([^`]*)`/;
  const [, replaced, include = "", file = "", line = ""] = said.exec(PAGES.nginx) ?? [];
  const here = join(folder, "token.conf");
  await writeFile(here, line.replace("TOKEN", TOKEN));
  const kept = block.split("\n").filter((each) => !each.trim().startsWith(`${replaced}`));
  return kept.join("\n").replace("    internal;\n", `    internal;\n    ${include.replace(file, here)}\n`);
}

/** True if a proxy asks over gRPC. */
export function asksByGrpc(name: GuideProxy): name is "envoy by gRPC" | "envoy in Istio" {
  return name === "envoy by gRPC" || name === "envoy in Istio";
}

/** Does to Envoy's configuration what its page says under "Over gRPC". @param isRaw false as in Istio, which joins headers of one name */
function overGrpc(configuration: string, protects: string, isRaw: boolean): string {
  const parts = /^## Over gRPC$[\s\S]*?```yaml\n([\s\S]*?)```/m.exec(PAGES["envoy by gRPC"])?.[1] ?? "";
  const [filter, route, cluster] = parseAllDocuments(parts).map((part) => part.toJS());
  const all = parse(configuration);
  const manager = all.static_resources.listeners[0].filter_chains[0].filters[0].typed_config;
  const [claims, authz, credentials, router] = manager.http_filters;
  expect(credentials.name).toBe("strip_credentials");
  manager.http_filters = [claims, authz, router];
  const { request_mutations: mutations } = claims.typed_config.mutations;
  claims.typed_config.mutations.request_mutations = mutations.filter((one: object) => !("remove_on_match" in one));
  const { allowed_headers, disallowed_headers, http_service, ...kept } = authz.typed_config;
  authz.typed_config = { ...kept, ...filter, encode_raw_headers: isRaw };
  for (const one of manager.route_config.virtual_hosts[0].routes) Object.assign(one, route);
  Object.assign(all.static_resources.clusters[1], cluster);
  return stringify(all).replace("keyplane: /g/research-main", `keyplane: ${protects}`);
}

/** Returns Traefik's own configuration as its page has it, and writes that of its provider, which it names. */
async function staticConfiguration(provider: string, port: number, { folder }: Files): Promise<string> {
  const file = join(folder, `models-${port}.yaml`);
  await writeFile(file, provider);
  const [, own = ""] = PAGES.traefik
    .split("```yaml\n")
    .slice(1)
    .map((part) => part.split("```")[0]);
  return own.replace("address: :8443", `address: 127.0.0.1:${port}`).replace("/etc/traefik/models.yaml", file);
}

/** Starts the proxy of a page with the page's configuration. */
export async function startGuideProxy(name: GuideProxy, place: Place) {
  const {
    verifierPort,
    servicePort,
    files,
    protects = "/g/research-main",
    byToken = false,
    edit = (text) => text,
  } = place;
  const port = await freePort();
  const ofBlock = /```(?:nginx|yaml|caddyfile)\n([\s\S]*?)```/.exec(PAGES[name])?.[1] ?? "";
  const block = byToken ? await withToken(ofBlock, files) : ofBlock;
  const isGrpc = asksByGrpc(name);
  const kind = asksByGrpc(name) ? "envoy" : name;
  const [ofPage, here] = ["/g/research-main", protects].map((path) => `/authz/${kind}${path}`);
  expect(block).toContain(ofPage);
  const ofEnvoy = {
    "address: 0.0.0.0, port_value: 8443": `address: 127.0.0.1, port_value: ${port}`,
    "address: 127.0.0.1, port_value: 8000": `address: 127.0.0.1, port_value: ${servicePort}`,
    "address: 10.0.0.5, port_value: 9090": `address: 127.0.0.1, port_value: ${verifierPort}`,
    "/etc/envoy/proxy.crt": files.tlsCert,
    "/etc/envoy/proxy.key": files.tlsKey,
    "/etc/envoy/verifier-ca.crt": files.tlsCert,
  };
  const replaced: Readonly<Record<GuideProxy, Readonly<Record<string, string>>>> = {
    nginx: {
      "listen 443 ssl;": `listen 127.0.0.1:${port};`,
      "  ssl_certificate /etc/nginx/models.example.com.crt;\n": "",
      "  ssl_certificate_key /etc/nginx/models.example.com.key;\n": "",
      "server 10.0.0.5:9090;": `server 127.0.0.1:${verifierPort};`,
      "server 127.0.0.1:8000;": `server 127.0.0.1:${servicePort};`,
      ...(!byToken && { "/etc/nginx/proxy.crt": files.tlsCert, "/etc/nginx/proxy.key": files.tlsKey }),
      "/etc/nginx/verifier-ca.crt": files.tlsCert,
    },
    envoy: ofEnvoy,
    "envoy by gRPC": ofEnvoy,
    "envoy in Istio": ofEnvoy,
    caddy: {
      "models.example.com {": `http://:${port} {\n\tbind 127.0.0.1`,
      "https://10.0.0.5:9090": `https://127.0.0.1:${verifierPort}`,
      "127.0.0.1:8000": `127.0.0.1:${servicePort}`,
      "/etc/caddy/keyplane-token": files.token,
      "/etc/caddy/verifier-ca.crt": files.tlsCert,
    },
    traefik: {
      "      tls: {}\n": "",
      "https://verifier.example.com:9090": `https://127.0.0.1:${verifierPort}`,
      "http://127.0.0.1:8000": `http://127.0.0.1:${servicePort}`,
      "/etc/traefik/verifier-ca.crt": files.tlsCert,
      "/etc/traefik/proxy.crt": files.tlsCert,
      "/etc/traefik/proxy.key": files.tlsKey,
      "/etc/traefik/models.example.com.crt": files.tlsCert,
      "/etc/traefik/models.example.com.key": files.tlsKey,
    },
  };
  const changes = Object.entries({ ...replaced[name], [ofPage ?? ""]: here ?? "" });
  const configuration = edit(
    changes.reduce((all, [from, to]) => {
      expect(all).toContain(from);
      return all.replace(from, to);
    }, block),
  );
  if (kind === "nginx") {
    const nginx = await startNginxWith(configuration, port);
    return { port, stop: () => nginx.stop() };
  }
  const head = name === "caddy" ? "{\n\tadmin off\n\tauto_https off\n}\n" : "";
  const whole =
    kind === "traefik"
      ? await staticConfiguration(configuration, port, files)
      : head + (isGrpc ? overGrpc(configuration, protects, name === "envoy by gRPC") : configuration);
  const proxy = await startProxy(kind, await findProxy(kind), whole, port);
  // Traefik listens before it has read its routes.
  if (kind === "traefik")
    await until("the proxy has its routes", async () => (await fetch(`http://127.0.0.1:${port}/`)).status !== 404);
  return { port, stop: () => proxy.stop() };
}
