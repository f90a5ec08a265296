/** Mistakes in the configuration of a proxy that asks the verifier, each with what to write at which proxy. */
import type { FindingName } from "../finding.ts";
import type { ProxyAnswer } from "./heard.ts";

/** Proxies of which a page has a recipe. */
export type RecipeProxy = "nginx" | "envoy" | "caddy";

type Row = {
  readonly finding: FindingName;
  /** Severity; `note` if the operator may have meant it. */
  readonly severity: "error" | "note";
  /** Remedy at each proxy. */
  readonly at: Readonly<Record<RecipeProxy, string>>;
};

const everywhere = (step: string) => ({ nginx: step, envoy: step, caddy: step });

const SENT_BY_VERIFIER = "X-Keyplane-Key, -Team, -Namespace, -Scopes and -Operation";

export const MISTAKES = {
  unprotected: {
    finding: "proxy-keys",
    severity: "error",
    at: {
      nginx:
        "write `auth_request /_keyplane;` into the location that serves it, since a location inherits none from its neighbours, and add `location = /_keyplane`, which asks the verifier",
      envoy:
        "put the filter envoy.filters.http.ext_authz before the router of this listener, and let no route switch it off",
      caddy: "put `forward_auth` before the `reverse_proxy` that serves it, both within one `route`",
    },
  },
  spelling: {
    finding: "proxy-keys",
    severity: "error",
    at: {
      nginx:
        "write `auth_request /_keyplane;` into `location /` too, or beside the protected location `location / { return 404; }`, and leave `merge_slashes on;`",
      envoy: "let ext_authz stand before every route, and none switch it off by its path",
      caddy: "put `forward_auth` behind no path matcher, within the `route` of the whole site",
    },
  },
  question: {
    finding: "proxy-keys",
    severity: "error",
    at: everywhere("add `location = /_keyplane { internal; ... }` of the recipe: nginx asks the service in its place"),
  },
  unasked: {
    finding: "proxy-verifier",
    severity: "error",
    at: {
      nginx:
        "see nginx's error log and the server's: `proxy_pass` of `location = /_keyplane` leads to https at --authz-port and to /authz/nginx/..., with the certificate or the token that the verifier takes; nginx shows one 503 for all of these, and for a server whose /readyz fails",
      envoy:
        "see Envoy's log and the server's: the cluster of `server_uri` leads to --authz-port over TLS, with the certificate that the verifier takes; the server's /readyz says whether it is ready",
      caddy:
        "see Caddy's log and the server's: `forward_auth` leads to https at --authz-port, with the authority of its certificate; the server's /readyz says whether it is ready",
    },
  },
  token: {
    finding: "proxy-verifier",
    severity: "error",
    at: {
      nginx: 'write `proxy_set_header X-Keyplane-Authz-Token "TOKEN";` into `location = /_keyplane`',
      envoy: "write into authorization_request `headers_to_add: [{ key: x-keyplane-authz-token, value: TOKEN }]`",
      caddy:
        "write `header_up X-Keyplane-Authz-Token {file./etc/caddy/keyplane-token}` into `forward_auth`, and let the file end without a newline",
    },
  },
  path: {
    finding: "proxy-verifier",
    severity: "error",
    at: {
      nginx: "write `proxy_pass https://verifier/authz/nginx/g/PUBLIC-ID;`, or /authz/nginx/scope/SCOPE",
      envoy: "write `path_prefix: /authz/envoy/g/PUBLIC-ID`, or /authz/envoy/scope/SCOPE",
      caddy: "write `uri /authz/caddy/g/PUBLIC-ID`, or /authz/caddy/scope/SCOPE",
    },
  },
  dialect: {
    finding: "proxy-requests",
    severity: "error",
    at: {
      nginx:
        "have `proxy_pass` of `location = /_keyplane` ask at /authz/nginx/..., with `proxy_set_header X-Original-Method $request_method;` and `proxy_set_header X-Original-URI $request_uri;`",
      envoy: "write `path_prefix: /authz/envoy/...`",
      caddy: "write `uri /authz/caddy/...`, and take X-Forwarded-Method and X-Forwarded-Uri off before `forward_auth`",
    },
  },
  added: {
    finding: "proxy-requests",
    severity: "error",
    at: everywhere("have the proxy add no such header to its question"),
  },
  target: {
    finding: "proxy-requests",
    severity: "error",
    at: {
      nginx:
        "write `proxy_set_header X-Original-URI $request_uri;` into `location = /_keyplane`: $uri is not as it was sent",
      envoy: "have no filter before ext_authz rewrite the path",
      caddy: "have no `uri` or `rewrite` stand before `forward_auth`",
    },
  },
  claim: {
    finding: "proxy-requests",
    severity: "error",
    at: {
      nginx:
        "write `proxy_set_header X-Original-Method $request_method;` and `proxy_set_header X-Original-URI $request_uri;` into `location = /_keyplane`",
      envoy: "write `path_prefix: /authz/envoy/...`: Envoy shows the request itself",
      caddy: "write `request_header -X-Forwarded-Method` and `request_header -X-Forwarded-Uri` before `forward_auth`",
    },
  },
  answers: {
    finding: "proxy-answers",
    severity: "error",
    at: {
      nginx:
        "write `error_page 401 403 500 = @keyplane;` beside `auth_request`, and in `location @keyplane` a line `if ($keyplane_status = 400) { return 400 $keyplane_error; }` for each of 400, 401, 403, 404 and 429",
      envoy: "let no `local_reply_config` change the verifier's answers",
      caddy: "let no `handle_response` or `handle_errors` change the verifier's answers",
    },
  },
  length: {
    finding: "proxy-bodies",
    severity: "error",
    at: {
      nginx:
        'write `proxy_pass_request_body off;` and `proxy_set_header Content-Length "";` into `location = /_keyplane`: without the second it announces bodies that it does not send',
      envoy: "see Envoy's log at that time",
      caddy: "see Caddy's log at that time",
    },
  },
  size: {
    finding: "proxy-bodies",
    severity: "note",
    at: {
      nginx: "where callers send larger ones, write `client_max_body_size 32m;`",
      envoy: "where callers send larger ones, write `max_request_bytes: 33554432` in with_request_body",
      caddy: "where callers send larger ones, raise `max_size` of `request_body`",
    },
  },
  hidden: {
    finding: "proxy-bodies",
    severity: "error",
    at: {
      nginx: "nginx shows no bodies: ask at /authz/nginx/...",
      envoy:
        "write `with_request_body: { max_request_bytes: 33554432, allow_partial_message: false }`, and let `allowed_headers` show content-type and content-encoding",
      caddy: "Caddy shows no bodies: ask at /authz/caddy/...",
    },
  },
  coding: {
    finding: "proxy-bodies",
    severity: "error",
    at: {
      ...everywhere("show the verifier Content-Encoding"),
      envoy: "let `allowed_headers` of ext_authz show content-encoding",
    },
  },
  lost: {
    finding: "proxy-service",
    severity: "error",
    at: {
      nginx: "let `proxy_pass_request_body off;` stand in `location = /_keyplane` alone",
      envoy: "have no filter behind ext_authz change the body",
      caddy: "have nothing between `forward_auth` and `reverse_proxy` read the body",
    },
  },
  elsewhere: {
    finding: "proxy-service",
    severity: "error",
    at: {
      nginx: "let `proxy_pass http://models;` end without a path, so that the request's own goes on",
      envoy: "let the route have no `prefix_rewrite` and no `regex_rewrite`",
      caddy: "let no `uri` or `rewrite` stand before `reverse_proxy`",
    },
  },
  "key refused": {
    finding: "proxy-keys",
    severity: "error",
    at: everywhere(
      "see by `keyplane whoami --key-file FILE` that the key works and is of that gateway, and that the proxy's path at the verifier has that gateway's public id",
    ),
  },
  address: {
    finding: "proxy-keys",
    severity: "error",
    at: {
      nginx:
        "where that is not the caller's address, write `proxy_set_header X-Real-IP $remote_addr;` into `location = /_keyplane`, and start the server with --authz-address-header X-Real-IP",
      envoy:
        "where that is not the caller's address, have the first filter write X-Real-IP as strip_claims of the recipe does, and start the server with --authz-address-header X-Real-IP",
      caddy:
        "where that is not the caller's address, write `header_up X-Real-IP {client_ip}` into `forward_auth`, and start the server with --authz-address-header X-Real-IP",
    },
  },
  "call refused": {
    finding: "proxy-keys",
    severity: "error",
    at: everywhere("give the URL of a GET that this key may make, such as https://models.example.com/v1/models"),
  },
  "key goes on": {
    finding: "proxy-service",
    severity: "error",
    at: {
      nginx:
        'write `proxy_set_header Authorization "";`, `proxy_set_header X-API-Key "";` and `proxy_set_header X-Goog-Api-Key "";` beside `proxy_pass`',
      envoy:
        "behind ext_authz, have a header_mutation remove authorization, x-api-key and x-goog-api-key, as strip_credentials of the recipe does",
      caddy:
        "write `request_header -Authorization`, `request_header -X-API-Key` and `request_header -X-Goog-Api-Key` behind `forward_auth`",
    },
  },
  "forged goes on": {
    finding: "proxy-service",
    severity: "error",
    at: {
      nginx:
        'write into the location `proxy_set_header X-Keyplane-Team $keyplane_team;`, and so on for each header of the verifier; `proxy_set_header NAME "";` for others; and leave `underscores_in_headers off;`',
      envoy:
        "before ext_authz have a header_mutation `remove_on_match: { key_matcher: { prefix: x-keyplane- } }`, show the verifier all headers by `allowed_headers`, and set `headers_with_underscores_action: REJECT_REQUEST`",
      caddy:
        "before `forward_auth` write `request_header -X-Keyplane*`, `request_header -X_Keyplane*` and `request_header -NAME` for others",
    },
  },
  unnamed: {
    finding: "proxy-service",
    severity: "error",
    at: {
      nginx: "write `auth_request_set` and `proxy_set_header` of the recipe for each of them",
      envoy: "write `allowed_upstream_headers: { patterns: [{ prefix: x-keyplane- }] }` in authorization_response",
      caddy: `write \`copy_headers ${SENT_BY_VERIFIER.replaceAll(", -", " X-Keyplane-").replace(" and -", " X-Keyplane-")}\`, and \`request_header -Connection\` before \`forward_auth\``,
    },
  },
  echo: {
    finding: "proxy-service",
    severity: "error",
    at: {
      nginx: "for this check lead `proxy_pass` of the location to 127.0.0.1 and the port of --authz-echo",
      envoy: "for this check lead the route's cluster to 127.0.0.1 and the port of --authz-echo",
      caddy: "for this check lead `reverse_proxy` to 127.0.0.1 and the port of --authz-echo",
    },
  },
} as const satisfies Readonly<Record<string, Row>>;

export type Mistake = keyof typeof MISTAKES;

/** Finds the proxy by an answer's headers; undefined if there is no recipe for it, or it does not name itself. */
export function proxyNamed({ server, via }: Pick<ProxyAnswer, "server" | "via">): RecipeProxy | undefined {
  if (/\bcaddy\b/i.test(`${via} ${server}`)) return "caddy";
  const [name] = /^(?:nginx|envoy)/i.exec(server) ?? [];
  const lower = name?.toLowerCase();
  return lower === "nginx" || lower === "envoy" ? lower : undefined;
}
