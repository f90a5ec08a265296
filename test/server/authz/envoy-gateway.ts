/** What Envoy Gateway 1.9 makes of examples/envoy-gateway, as far as the example says it: the configuration of Envoy. */
import { parseAllDocuments } from "yaml";
import { read } from "../../architecture/sources.ts";

type Named = { readonly name: string };

/** Fields of the example's objects that Envoy's configuration comes of. */
type Spec = {
  readonly headers: {
    readonly withUnderscoresAction: string;
    readonly earlyRequestHeaders: {
      readonly removeOnMatch: readonly { readonly type: string; readonly value: string }[];
    };
  };
  readonly rules: readonly [
    { readonly filters: readonly [{ readonly requestHeaderModifier: { readonly remove: readonly string[] } }] },
  ];
  readonly extAuth: {
    readonly failOpen: boolean;
    readonly statusOnError: number;
    readonly timeout: string;
    readonly headersToExtAuth: readonly string[];
    readonly bodyToExtAuth: { readonly maxRequestBytes: number };
    readonly http: {
      readonly path: string;
      readonly backendRefs: readonly (Named & { readonly namespace: string; readonly port: number })[];
      readonly headersToBackend: readonly string[];
    };
  };
  readonly targetRefs: readonly (Named & { readonly sectionName?: string })[];
  readonly validation: { readonly hostname: string };
};

/** An object of the example by its kind. */
export function objectOf(kind: string): { readonly spec: Spec } {
  const objects = parseAllDocuments(read("examples/envoy-gateway/models.yaml")).map((document) => document.toJS());
  const found = objects.find((object) => object.kind === kind);
  if (found === undefined) throw new Error(`the example has no ${kind}`);
  return found;
}

/** Where the parts of this machine are, in place of the cluster's. */
type Place = {
  readonly port: number;
  readonly verifierPort: number;
  readonly servicePort: number;
  readonly files: { readonly tlsCert: string; readonly tlsKey: string };
};

/** Envoy's configuration, in JSON. */
export function envoyOfGateway({ port, verifierPort, servicePort, files }: Place): string {
  const { headers } = objectOf("ClientTrafficPolicy").spec;
  const [rule] = objectOf("HTTPRoute").spec.rules;
  const { extAuth } = objectOf("SecurityPolicy").spec;
  const exact = (names: readonly string[]) => ({ patterns: names.map((name) => ({ exact: name, ignore_case: true })) });
  const removed = headers.earlyRequestHeaders.removeOnMatch.map(({ value }) => ({
    remove_on_match: { key_matcher: { safe_regex: { regex: value } } },
  }));
  const http = "envoy.filters.network.http_connection_manager";
  const manager = {
    "@type": typeOf("filters.network.http_connection_manager.v3.HttpConnectionManager"),
    stat_prefix: "models",
    use_remote_address: true,
    normalize_path: true,
    merge_slashes: true,
    path_with_escaped_slashes_action: "UNESCAPE_AND_REDIRECT",
    common_http_protocol_options: { headers_with_underscores_action: "REJECT_REQUEST" },
    early_header_mutation_extensions: [
      typed("envoy.http.early_header_mutation.header_mutation", {
        "@type": typeOf("http.early_header_mutation.header_mutation.v3.HeaderMutation"),
        mutations: removed,
      }),
    ],
    http_filters: [
      typed("envoy.filters.http.ext_authz", {
        "@type": typeOf("filters.http.ext_authz.v3.ExtAuthz"),
        transport_api_version: "V3",
        failure_mode_allow: extAuth.failOpen,
        status_on_error: { code: extAuth.statusOnError },
        allowed_headers: exact(extAuth.headersToExtAuth),
        with_request_body: { max_request_bytes: extAuth.bodyToExtAuth.maxRequestBytes },
        http_service: {
          path_prefix: extAuth.http.path,
          server_uri: { uri: `http://verifier${extAuth.http.path}`, cluster: "verifier", timeout: extAuth.timeout },
          authorization_response: { allowed_upstream_headers: exact(extAuth.http.headersToBackend) },
        },
      }),
      typed("envoy.filters.http.router", {
        "@type": typeOf("filters.http.router.v3.Router"),
        suppress_envoy_headers: true,
      }),
    ],
    route_config: {
      virtual_hosts: [
        {
          ...{ name: "models", domains: ["*"] },
          routes: [
            {
              match: { prefix: "/" },
              route: { cluster: "models", upgrade_configs: [{ upgrade_type: "websocket" }] },
              request_headers_to_remove: rule.filters[0].requestHeaderModifier.remove,
            },
          ],
        },
      ],
    },
  };
  const validated = {
    trusted_ca: { filename: files.tlsCert },
    match_typed_subject_alt_names: [{ san_type: "DNS", matcher: { exact: "verifier.example.com" } }],
  };
  const tls = typed("envoy.transport_sockets.tls", {
    "@type": typeOf("transport_sockets.tls.v3.UpstreamTlsContext"),
    common_tls_context: {
      tls_certificates: [{ certificate_chain: { filename: files.tlsCert }, private_key: { filename: files.tlsKey } }],
      validation_context: validated,
    },
  });
  const listener = {
    ...{ name: "models", address: addressOf(port), per_connection_buffer_limit_bytes: 32_768 },
    filter_chains: [{ filters: [typed(http, manager)] }],
  };
  const clusters = [
    clusterOf("models", servicePort),
    { ...clusterOf("verifier", verifierPort), transport_socket: tls },
  ];
  return JSON.stringify({ static_resources: { listeners: [listener], clusters } });
}

const typeOf = (name: string): string => `type.googleapis.com/envoy.extensions.${name}`;
const typed = (name: string, typed_config: object) => ({ name, typed_config });

function addressOf(port: number) {
  return { socket_address: { address: "127.0.0.1", port_value: port } };
}

function clusterOf(name: string, port: number) {
  const endpoint = { endpoint: { address: addressOf(port) } };
  const load_assignment = { cluster_name: name, endpoints: [{ lb_endpoints: [endpoint] }] };
  return { name, type: "STATIC", connect_timeout: "1s", load_assignment };
}
