/** Doctor on the real proxies: with their guides' recipes, and with each recipe broken in one way. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Finding } from "../../../../cli/doctor/finding.ts";
import { checkProxy } from "../../../../cli/doctor/proxy/check-proxy.ts";
import type { KeyRecord } from "../../../../domain/access/key-record.ts";
import { freePort } from "../../../env/free-port.ts";
import { makeFiles, startGuideProxy, startService } from "../../../server/authz/guide-proxies.ts";
import { startVerifier, type Verifier } from "../../../server/authz/verifier-harness.ts";

const OPENAI = { name: "o", dialect: "openai", baseUrl: "http://127.0.0.1:1", credential: "sk" } as const;
const STARTED = 600_000;

/** Keys that doctor may be given. */
const KEYS = {
  any: {},
  limited: { allowedModels: ["gpt"] },
  "of here": { allowedCIDRs: ["127.0.0.0/8"] },
} satisfies Readonly<Record<string, Partial<KeyRecord>>>;

/** What doctor is given beside the URL. */
type Given = {
  readonly edit?: (recipe: string) => string;
  /** True if doctor is the service behind the proxy. */
  readonly echo?: boolean;
  readonly key?: keyof typeof KEYS | "none";
  /** Path at which the proxy asks the verifier, in place of the page's. */
  readonly protects?: string;
};
type Row = readonly [what: string, given: Given, name: Finding["name"], message: RegExp, action: RegExp];

/** Replaces a text that a recipe has. */
const replace = (from: string | RegExp, to: string) => (recipe: string) => {
  expect(recipe).toMatch(from);
  return recipe.replaceAll(typeof from === "string" ? from : new RegExp(from, "g"), to);
};
const drop = (line: string | RegExp) => replace(line, "");
const ECHO = { echo: true } as const;

const LOCATION = "  location = /_keyplane {";
/** A location of nginx that asks nothing. */
const open = (path: string, more = "") =>
  replace(LOCATION, `  location ${path} { proxy_pass http://models; ${more} }\n${LOCATION}`);

/** Proxies that ask over HTTP, with a recipe of their own. */
const PROXIES = ["nginx", "envoy", "caddy", "traefik"] as const;
const BROKEN: Readonly<Record<(typeof PROXIES)[number], readonly Row[]>> = {
  nginx: [
    [
      "auth_request forgotten",
      { edit: drop("auth_request /_keyplane;") },
      "proxy-keys",
      /without a key/,
      /`auth_request/,
    ],
    [
      "auth_request forgotten, its service shown",
      { ...ECHO, edit: drop("auth_request /_keyplane;") },
      "proxy-keys",
      /reaches the service without a key/,
      /`auth_request/,
    ],
    [
      "a location that asks nothing",
      { edit: open("/v1/files") },
      "proxy-keys",
      /GET \/v1\/files is answered with 200/,
      /inherits none/,
    ],
    [
      "another spelling that asks nothing",
      {
        edit: (all) =>
          open(
            "/",
            "if ($request_uri !~ /v1/) { return 404; }",
          )(replace("location / {", "location /v1/ {")(replace("  listen", "  merge_slashes off;\n  listen")(all))),
      },
      "proxy-keys",
      /\/\/v1\/models/,
      /merge_slashes on/,
    ],
    [
      "no location of the question",
      { edit: replace(LOCATION, "  location = /_other {"), ...ECHO },
      "proxy-keys",
      /sent \/_keyplane in place/,
      /location = \/_keyplane/,
    ],
    [
      "the path of another proxy",
      { protects: "/authz/envoy/g/research-main" },
      "proxy-requests",
      /verifier refuses what it is not shown/,
      /\/authz\/nginx\//,
    ],
    [
      "a target that it has rewritten",
      { edit: replace("X-Original-URI $request_uri", "X-Original-URI $uri") },
      "proxy-requests",
      /not shown the query/,
      /\$request_uri/,
    ],
    [
      "the method of its own question",
      { edit: replace("X-Original-Method $request_method", "X-Original-Method GET") },
      "proxy-requests",
      /not shown the method/,
      /X-Original-Method \$request_method/,
    ],
    [
      "a target that its client claims",
      {
        edit: (all) =>
          `map $http_x_original_uri $claimed { "" $request_uri; default $http_x_original_uri; }\n${replace("X-Original-URI $request_uri", "X-Original-URI $claimed")(all)}`,
      },
      "proxy-requests",
      /claims another one in X-Original-URI/,
      /\$request_uri/,
    ],
    ["no error_page", { edit: drop("error_page 401 403 500 = @keyplane;") }, "proxy-answers", /401/, /error_page/],
    [
      "an error_page without 403",
      { edit: replace("error_page 401 403 500", "error_page 401 500") },
      "proxy-answers",
      /400 reaches callers as 403/,
      /error_page/,
    ],
    [
      "a status that is not turned back",
      { edit: drop("if ($keyplane_status = 400) { return 400 $keyplane_error; }") },
      "proxy-answers",
      /400 reaches callers as 503/,
      /= 400/,
    ],
    [
      "a 403 that is not turned back",
      { edit: drop("if ($keyplane_status = 403) { return 403 $keyplane_error; }") },
      "proxy-answers",
      /403 reaches callers as 503/,
      /403, 404 and 429/,
    ],
    [
      "a 404 that is not turned back",
      { edit: drop("if ($keyplane_status = 404) { return 404 $keyplane_error; }") },
      "proxy-answers",
      /404 reaches callers as 503/,
      /403, 404 and 429/,
    ],
    [
      "no address",
      { key: "of here", edit: drop("proxy_set_header X-Real-IP $remote_addr;") },
      "proxy-keys",
      /refused with 403 address_not_allowed/,
      /X-Real-IP \$remote_addr/,
    ],
    [
      "a verifier that is not reached",
      {
        edit: replace(
          /server 127\.0\.0\.1:\d+;\n {2}keepalive 32;\n}\n\nupstream models/,
          "server 127.0.0.1:1;\n}\n\nupstream models",
        ),
      },
      "proxy-verifier",
      /no word of the verifier/,
      /certificate or the token/,
    ],
    [
      "no certificate of its own",
      { edit: (all) => drop(/ {4}proxy_ssl_certificate(_key)? [^;]*;\n/)(all) },
      "proxy-verifier",
      /no word of the verifier/,
      /certificate or the token/,
    ],
    [
      "bodies that it announces and does not send",
      { edit: drop('proxy_set_header Content-Length "";') },
      "proxy-bodies",
      /right after a request with a body/,
      /Content-Length ""/,
    ],
    ["the default size of bodies", { edit: drop("client_max_body_size 32m;") }, "proxy-bodies", /413/, /32m/],
    [
      "no bodies for the service",
      {
        ...ECHO,
        edit: replace(
          "    proxy_pass http://models;",
          '    proxy_pass http://models;\n    proxy_pass_request_body off;\n    proxy_set_header Content-Length "";',
        ),
      },
      "proxy-service",
      /0 of 1500/,
      /proxy_pass_request_body off/,
    ],
    [
      "another path for the service",
      { ...ECHO, edit: replace("    proxy_pass http://models;", "    proxy_pass http://models/x/;") },
      "proxy-service",
      /another path/,
      /without a path/,
    ],
    [
      "a key that is left on",
      { ...ECHO, edit: drop('proxy_set_header Authorization "";') },
      "proxy-service",
      /sent the key: GET \/v1\/models/,
      /Authorization ""/,
    ],
    [
      "a key that is left on in one place",
      { ...ECHO, edit: drop('proxy_set_header X-API-Key "";') },
      "proxy-service",
      /sent the key: a key in X-API-Key/,
      /X-API-Key ""/,
    ],
    [
      "a claim that is left on",
      { ...ECHO, edit: drop("proxy_set_header X-Keyplane-Team $keyplane_team;") },
      "proxy-service",
      /sent a client's x-keyplane-team/i,
      /\$keyplane_team/,
    ],
    [
      "a place that is left on",
      { ...ECHO, edit: drop('proxy_set_header X-Original-URI "";') },
      "proxy-service",
      /sent a client's X-Original-URI/,
      /NAME ""/,
    ],
    [
      "another gateway's public id",
      { protects: "/authz/nginx/g/another" },
      "proxy-keys",
      /refused with 401/,
      /public id/,
    ],
    [
      "a service that is not doctor",
      { echo: true, edit: (all) => all.replace(/(upstream models \{\n {2}server 127\.0\.0\.1:)\d+/, "$11") },
      "proxy-service",
      /not by --authz-echo/,
      /--authz-echo/,
    ],
  ],
  envoy: [
    [
      "a filter that is missing",
      {
        edit: (all) =>
          all.replace(/ {18}- name: envoy\.filters\.http\.ext_authz[\s\S]*?(?= {18}- name: strip_credentials)/, ""),
      },
      "proxy-keys",
      /without a key/,
      /ext_authz/,
    ],
    [
      "a route that switches it off",
      {
        edit: replace(
          "- match: { prefix: / }",
          `- match: { prefix: /v1/files }
                          route: { cluster: models }
                          typed_per_filter_config:
                            envoy.filters.http.ext_authz:
                              "@type": type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthzPerRoute
                              disabled: true
                        - match: { prefix: / }`,
        ),
      },
      "proxy-keys",
      /\/v1\/files is answered with 200/,
      /switch it off/,
    ],
    [
      "the path of another proxy",
      { protects: "/authz/nginx/g/research-main" },
      "proxy-requests",
      /cannot tell what it is asked about/,
      /\/authz\/envoy\//,
    ],
    [
      "a path that is none of the verifier",
      { protects: "/nowhere" },
      "proxy-verifier",
      /at no path of the verifier/,
      /path_prefix/,
    ],
    [
      "a verifier that is not reached",
      {
        edit: (all) =>
          all.replace(/port_value: \d+ \} \} \}\n {6}transport_socket/, "port_value: 1 } } }\n      transport_socket"),
      },
      "proxy-verifier",
      /no word of the verifier/,
      /server_uri/,
    ],
    [
      "a verifier that is not reached, and the default status",
      {
        edit: (all) =>
          drop("status_on_error: { code: ServiceUnavailable }")(
            all.replace(
              /port_value: \d+ \} \} \}\n {6}transport_socket/,
              "port_value: 1 } } }\n      transport_socket",
            ),
          ),
      },
      "proxy-verifier",
      /403, without the verifier's text/,
      /status_on_error/,
    ],
    [
      "claims that are left on",
      {
        ...ECHO,
        edit: (all) =>
          drop("- remove_on_match: { key_matcher: { prefix: x-keyplane- } }")(
            drop("allowed_upstream_headers: { patterns: [{ prefix: x-keyplane- }] }")(all),
          ),
      },
      "proxy-service",
      /sent a client's x-keyplane-key/i,
      /remove_on_match/,
    ],
    [
      "claims that the service does not get",
      { ...ECHO, edit: drop("allowed_upstream_headers: { patterns: [{ prefix: x-keyplane- }] }") },
      "proxy-service",
      /without one x-keyplane-key/,
      /allowed_upstream_headers/,
    ],
    [
      "headers that the verifier is not shown",
      {
        ...ECHO,
        edit: replace('[{ safe_regex: { regex: ".*" } }]', "[{ exact: authorization }, { exact: content-type }]"),
      },
      "proxy-service",
      /sent a client's Cookie/i,
      /allowed_headers/,
    ],
    [
      "a key that is left on",
      { ...ECHO, edit: drop("- remove: authorization") },
      "proxy-service",
      /sent the key/,
      /strip_credentials/,
    ],
    [
      "bodies that are not shown",
      {
        key: "limited",
        edit: drop("with_request_body: { max_request_bytes: 33554432, allow_partial_message: false }"),
      },
      "proxy-bodies",
      /not shown all of the body/,
      /allow_partial_message: false/,
    ],
    [
      "bodies of which a part is shown",
      {
        key: "limited",
        edit: replace(
          "max_request_bytes: 33554432, allow_partial_message: false",
          "max_request_bytes: 8192, allow_partial_message: true",
        ),
      },
      "proxy-bodies",
      /not shown all of a body of 1.5 MB/,
      /33554432/,
    ],
    [
      "bodies of a small size",
      { edit: replace("max_request_bytes: 33554432", "max_request_bytes: 8192") },
      "proxy-bodies",
      /413/,
      /33554432/,
    ],
    [
      "a coding that the verifier is not shown",
      {
        key: "limited",
        edit: replace("[{ exact: transfer-encoding },", "[{ exact: transfer-encoding }, { exact: content-encoding },"),
      },
      "proxy-bodies",
      /called compressed/,
      /content-encoding/,
    ],
  ],
  caddy: [
    [
      "a path that asks nothing",
      { edit: replace("\t\tforward_auth", "\t\t@asked not path /v1/files*\n\t\tforward_auth @asked") },
      "proxy-keys",
      /\/v1\/files is answered with 200/,
      /forward_auth/,
    ],
    [
      "methods that ask nothing",
      { edit: replace("\t\tforward_auth", "\t\t@asked method GET HEAD POST\n\t\tforward_auth @asked") },
      "proxy-keys",
      /PROPFIND \/v1\/models/,
      /forward_auth/,
    ],
    [
      "the path of another proxy",
      { protects: "/authz/nginx/g/research-main" },
      "proxy-requests",
      /cannot tell what it is asked about/,
      /\/authz\/caddy\//,
    ],
    [
      "another token",
      { edit: (all) => all.replace(/\{file\.[^}]*\}/, "another-token-of-the-same-length") },
      "proxy-verifier",
      /does not know the proxy/,
      /X-Keyplane-Authz-Token/,
    ],
    [
      "a verifier that is not reached",
      { edit: (all) => all.replace(/https:\/\/127\.0\.0\.1:\d+/, "https://127.0.0.1:1") },
      "proxy-verifier",
      /no word of the verifier/,
      /forward_auth/,
    ],
    [
      "claims that a client has dropped",
      { ...ECHO, edit: drop("request_header -Connection") },
      "proxy-service",
      /without one x-keyplane-key/,
      /-Connection/,
    ],
    [
      "claims that are left on",
      { ...ECHO, edit: (all) => drop("request_header -X-Keyplane*")(all.replace(/\t\t\tcopy_headers .*\n/, "")) },
      "proxy-service",
      /sent a client's x-keyplane-key/i,
      /-X-Keyplane\*/,
    ],
    [
      "a key that is left on",
      { ...ECHO, edit: drop("request_header -X-API-Key") },
      "proxy-service",
      /sent the key: a key in X-API-Key/,
      /-X-API-Key/,
    ],
  ],
  // Doctor does not know Traefik by its answers: what it names is compared with a recipe.
  traefik: [
    [
      "forwardAuth forgotten",
      { edit: replace("[keyplane, credentials]", "[credentials]") },
      "proxy-keys",
      /without a key/,
      /recipe/,
    ],
    [
      "the path of another proxy",
      { protects: "/authz/nginx/g/research-main" },
      "proxy-requests",
      /cannot tell what it is asked about/,
      /recipe/,
    ],
    [
      "a key that is left on",
      { ...ECHO, edit: replace("[keyplane, credentials]", "[keyplane]") },
      "proxy-service",
      /sent the key/,
      /recipe/,
    ],
    [
      "an upgrade that is left on",
      { ...ECHO, edit: drop('Upgrade: ""') },
      "proxy-service",
      /sent a client's Upgrade/,
      /recipe/,
    ],
    [
      "headers by a list",
      { ...ECHO, edit: replace("authResponseHeadersRegex: (?i)^x.keyplane", "authResponseHeaders: [X-Keyplane-Key]") },
      "proxy-service",
      /./,
      /recipe/,
    ],
  ],
};

describe.each(PROXIES)("%s", (name) => {
  let verifier: Verifier;
  let files: Awaited<ReturnType<typeof makeFiles>>;
  const ends: (() => unknown)[] = [];

  beforeAll(async () => {
    files = await makeFiles();
    ends.push(() => files.remove());
    const tls = { certFile: files.tlsCert, keyFile: files.tlsKey };
    verifier = await startVerifier(
      name === "caddy"
        ? { tls: { ...tls, clientCaFile: null }, tokenFile: files.token }
        : { tls: { ...tls, clientCaFile: files.tlsCert } },
    );
    ends.push(() => verifier.close());
    verifier.addGateway({ publicId: "research-main", upstreams: [OPENAI] });
  }, STARTED);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  async function check({ edit = (recipe) => recipe, echo = false, key = "any", protects }: Given) {
    const ofPage = `/authz/${name}/g/research-main`;
    const service = await startService();
    const echoPort = echo ? await freePort() : undefined;
    const proxy = await startGuideProxy(name, {
      ...{ verifierPort: verifier.authzPort, servicePort: echoPort ?? service.port, files },
      edit: (recipe) => edit(protects === undefined ? recipe : replace(ofPage, protects)(recipe)),
    });
    try {
      const given = key === "none" ? undefined : verifier.addKey(KEYS[key]);
      const url = new URL(`http://127.0.0.1:${proxy.port}/v1/models`);
      const findings = await checkProxy({ url, key: given, echoPort });
      expect(JSON.stringify(findings)).not.toContain(given ?? "inf_");
      return { findings, sent: service.sent };
    } finally {
      await proxy.stop();
      service.close();
    }
  }
  const wrong = (findings: readonly Finding[]) => findings.filter(({ severity }) => severity === "error");
  const SHORT = ({ name, severity }: Finding) => `${severity} ${name}`;

  test.each<Given>([
    { key: "none" },
    { key: "any" },
    { key: "limited" },
    { key: "any", echo: true },
    { key: "any", echo: true, protects: `/authz/${name}/scope/gateway:generate` },
    { key: "none", protects: `/authz/${name}/scope/gateway:generate` },
  ])(
    "doctor finds nothing wrong with the guide's recipe, by $key key, with an echo: $echo, at $protects",
    async (given) => {
      const { findings } = await check(given);
      expect(wrong(findings)).toEqual([]);
      expect(findings.map(SHORT)).toEqual(
        expect.arrayContaining(["ok proxy-verifier", "ok proxy-keys", "ok proxy-requests"]),
      );
      if (given.echo) expect(findings.map(SHORT)).toContain("ok proxy-service");
      else expect(findings.map(SHORT)).toContain("note proxy-service");
    },
  );

  test.each<Row>(BROKEN[name])("c97: doctor names %s", async (_what, given, finding, message, action) => {
    const { findings } = await check(given);
    const named = findings.find(
      (each) => each.name === finding && each.severity !== "ok" && message.test(each.message),
    );
    expect(named, JSON.stringify(findings, null, 1)).toBeDefined();
    expect(named?.action).toMatch(action);
  });
});
