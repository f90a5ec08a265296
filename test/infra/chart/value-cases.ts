/** What operators set of a release besides its pods, row by row. */
import { expect } from "vitest";
import { holding, LABELS, podOf, type ValueCases, without } from "./value-case.ts";

const rangeOf = (cidr: string) => ({ ipBlock: { cidr } });
const namespaceOf = (...values: readonly string[]) => ({
  namespaceSelector: { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values }] },
});
export const VALUE_CASES: ValueCases = {
  "labels of the operator's own are on every object and pod, and in no selector": {
    values: { commonLabels: LABELS },
    expected: [
      [
        "Deployment",
        "keyplane-server",
        { metadata: { labels: LABELS }, spec: { template: { metadata: { labels: LABELS } } } },
      ],
      [
        "Job",
        "keyplane-migration",
        { metadata: { labels: LABELS }, spec: { template: { metadata: { labels: LABELS } } } },
      ],
      ["Service", "keyplane-server", { metadata: { labels: LABELS } }],
      ["ClusterRole", "keyplane-controller", { metadata: { labels: LABELS } }],
    ],
  },
  "a pod's own labels come before the common ones": {
    values: { commonLabels: LABELS, server: { podLabels: { "example.com/cost-centre": "research" } } },
    expected: [
      [
        ...(["Deployment", "keyplane-server"] as const),
        { spec: { template: { metadata: { labels: { "example.com/cost-centre": "research" } } } } },
      ],
    ],
  },
  "a budget has a least number for one component, and the other keeps what may be away": {
    values: { podDisruptionBudget: { minAvailable: { server: "50%" } } },
    expected: [
      ["PodDisruptionBudget", "keyplane-server", { spec: without("maxUnavailable") }],
      ["PodDisruptionBudget", "keyplane-controller", { spec: without("minAvailable") }],
    ],
  },
  "servers are scaled by their own CPU, whatever containers stand beside them": {
    values: { server: { autoscaling: { enabled: true } } },
    expected: [
      [
        ...(["HorizontalPodAutoscaler", "keyplane-server"] as const),
        {
          spec: {
            metrics: [{ type: "ContainerResource", containerResource: { name: "cpu", container: "server" } }],
          },
        },
      ],
    ],
  },
  "Services are of the families that are said": {
    values: { service: { ipFamilyPolicy: "PreferDualStack", ipFamilies: ["IPv4"], labels: LABELS } },
    expected: [
      [
        ...(["Service", "keyplane-server"] as const),
        { metadata: { labels: LABELS }, spec: { ipFamilyPolicy: "PreferDualStack", ipFamilies: ["IPv4"] } },
      ],
      [
        ...(["Service", "keyplane-server-metrics"] as const),
        { spec: { ipFamilyPolicy: "PreferDualStack", ipFamilies: ["IPv4"] } },
      ],
    ],
  },
  "a load balancer leaves servers their callers' own addresses": {
    values: { service: { type: "LoadBalancer", externalTrafficPolicy: "Local" } },
    expected: [
      [
        ...(["Service", "keyplane-server"] as const),
        { spec: { type: "LoadBalancer", externalTrafficPolicy: "Local" } },
      ],
    ],
  },
  "servers send traces to the collector that is said, and as many as are said": {
    values: { otlp: { endpoint: "http://collector.observability:4318", ratio: 0.05 } },
    expected: [
      [
        ...(["Deployment", "keyplane-server"] as const),
        podOf(
          expect.objectContaining({
            containers: holding({
              args: expect.arrayContaining([
                "--otlp-endpoint=http://collector.observability:4318",
                "--trace-ratio=0.050000",
              ]),
            }),
          }),
        ),
      ],
    ],
  },
  "NetworkPolicies reach the ranges and the namespaces that are said, and no others": {
    values: {
      networkPolicy: {
        serverFrom: { cidrs: ["10.0.0.0/8"], namespaces: ["ingress"] },
        databaseTo: { namespaces: ["postgres"] },
        apiServerTo: { cidrs: ["10.96.0.1/32"] },
        upstreamTo: { cidrs: ["203.0.113.0/24", "2001:db8::/32"], namespaces: ["models", "issuers"] },
        controllerEgress: [{ ports: [{ port: 4317 }] }],
        migrationEgress: [{ ports: [{ port: 3307 }] }],
      },
    },
    expected: [
      [
        ...(["NetworkPolicy", "keyplane-server"] as const),
        {
          spec: {
            ingress: [{ ports: [{ port: 8080 }], from: [rangeOf("10.0.0.0/8"), namespaceOf("ingress")] }, {}],
            egress: [
              { ports: [{ port: 53 }, { port: 53 }] },
              { ports: [{ port: 5432 }], to: [namespaceOf("postgres")] },
              {
                ports: [{ port: 443 }],
                to: [rangeOf("203.0.113.0/24"), rangeOf("2001:db8::/32"), namespaceOf("models", "issuers")],
              },
            ],
          },
        },
      ],
      [
        ...(["NetworkPolicy", "keyplane-controller"] as const),
        {
          spec: {
            egress: [
              {},
              { to: [namespaceOf("postgres")] },
              { ports: [{ port: 443 }, { port: 6443 }], to: [rangeOf("10.96.0.1/32")] },
              { ports: [{ port: 4317 }] },
            ],
          },
        },
      ],
      [
        ...(["NetworkPolicy", "keyplane-migration"] as const),
        { spec: { egress: [{}, { to: [namespaceOf("postgres")] }, { ports: [{ port: 3307 }] }] } },
      ],
    ],
  },
  "b385: the verifier has a Service, its files and its proxies, as they are said": {
    values: {
      authz: {
        enabled: true,
        tls: { existingSecret: "authz" },
        clientCa: { existingConfigMap: "proxies", key: "ca.pem" },
        token: { existingSecret: "proxy-token", key: "now" },
        addressHeader: "X-Real-IP",
      },
      networkPolicy: { authzFrom: { cidrs: ["10.0.3.0/24"], namespaces: ["envoy-gateway-system"] } },
    },
    expected: [
      [
        ...(["Service", "keyplane-authz"] as const),
        {
          spec: {
            type: "ClusterIP",
            ports: [{ port: 9090, targetPort: "authz" }],
            selector: { "app.kubernetes.io/component": "server" },
          },
        },
      ],
      [
        ...(["NetworkPolicy", "keyplane-server"] as const),
        {
          spec: {
            ingress: [
              { ports: [{ port: 8080 }] },
              { ports: [{ port: 8081 }] },
              { ports: [{ port: 9090 }], from: [rangeOf("10.0.3.0/24"), namespaceOf("envoy-gateway-system")] },
            ],
          },
        },
      ],
      [
        ...(["Deployment", "keyplane-server"] as const),
        podOf({
          containers: [
            {
              args: expect.arrayContaining([
                ...["--authz-port=9090", "--authz-host=0.0.0.0", "--authz-address-header=X-Real-IP"],
                ...[
                  "--authz-tls-cert=/etc/keyplane/authz-tls/tls.crt",
                  "--authz-tls-key=/etc/keyplane/authz-tls/tls.key",
                ],
                "--authz-client-ca=/etc/keyplane/authz-client-ca/ca.crt",
                "--authz-token-file=/etc/keyplane/authz-token/token",
              ]),
              ports: holding({ name: "authz", containerPort: 9090 }),
              volumeMounts: expect.arrayContaining(
                ["authz-tls", "authz-client-ca", "authz-token"].map((name) => ({
                  ...{ name, mountPath: `/etc/keyplane/${name}`, readOnly: true },
                })),
              ),
            },
          ],
          volumes: expect.arrayContaining([
            { name: "authz-tls", secret: expect.objectContaining({ secretName: "authz" }) },
            { name: "authz-client-ca", configMap: { name: "proxies", items: [{ key: "ca.pem", path: "ca.crt" }] } },
            {
              name: "authz-token",
              secret: expect.objectContaining({ secretName: "proxy-token", items: [{ key: "now", path: "token" }] }),
            },
          ]),
        }),
      ],
    ],
  },
  "the verifier takes gRPC too, on a port that the same proxies reach": {
    values: {
      authz: { enabled: true, grpc: true, token: { existingSecret: "proxy-token" } },
      networkPolicy: { authzFrom: { namespaces: ["istio-system"] } },
    },
    expected: [
      [
        ...(["Service", "keyplane-authz"] as const),
        { spec: { ports: [{ port: 9090 }, { name: "grpc-authz", port: 9091, targetPort: "grpc-authz" }] } },
      ],
      [
        ...(["NetworkPolicy", "keyplane-server"] as const),
        {
          spec: {
            ingress: [
              { ports: [{ port: 8080 }] },
              { ports: [{ port: 8081 }] },
              { ports: [{ port: 9090 }, { port: 9091 }], from: [namespaceOf("istio-system")] },
            ],
          },
        },
      ],
      [
        ...(["Deployment", "keyplane-server"] as const),
        podOf({
          containers: [
            {
              args: expect.arrayContaining(["--authz-port=9090", "--authz-grpc-port=9091"]),
              ports: holding({ name: "grpc-authz", containerPort: 9091 }),
            },
          ],
        }),
      ],
    ],
  },
  "b385: no proxy reaches the verifier where none is named": {
    values: { authz: { enabled: true, token: { existingSecret: "proxy-token" } } },
    expected: [
      [
        ...(["NetworkPolicy", "keyplane-server"] as const),
        { spec: { ingress: [{ ports: [{ port: 8080 }] }, { ports: [{ port: 8081 }] }] } },
      ],
    ],
  },
  "b385: a verifier that is off opens no port, though its proxies are named": {
    values: {
      authz: { tls: { existingSecret: "authz" }, token: { existingSecret: "proxy-token" } },
      networkPolicy: { authzFrom: { namespaces: ["envoy-gateway-system"] } },
    },
    expected: [
      [
        ...(["NetworkPolicy", "keyplane-server"] as const),
        { spec: { ingress: [{ ports: [{ port: 8080 }] }, { ports: [{ port: 8081 }] }] } },
      ],
      [
        ...(["Deployment", "keyplane-server"] as const),
        podOf({
          containers: [{ args: expect.not.arrayContaining([expect.stringContaining("authz")]), ports: [{}, {}] }],
          volumes: [{ name: "database" }, { name: "encryption-key" }],
        }),
      ],
    ],
    absent: [["Service", "keyplane-authz"]],
  },
  "objects of the operator's own go with the release, as they are or as templates": {
    values: {
      extraObjects: [
        { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "plain" }, data: { text: "{{ not a template }}" } },
        'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ include "keyplane.fullname" . }}-more }',
      ],
    },
    expected: [
      ["ConfigMap", "plain", { data: { text: "{{ not a template }}" } }],
      ["ConfigMap", "keyplane-more", {}],
    ],
  },
  "servers and controllers log as much as is said, and servers the audit log": {
    values: { logLevel: "warn", server: { auditLog: "stdout" } },
    expected: ["server", "controller"].map((component) => [
      ...(["Deployment", `keyplane-${component}`] as const),
      podOf({ containers: [{ args: holding("--log-level=warn") }] }),
    ]),
  },
  "servers and controllers, each of which deletes old audit events, keep them as long as is said": {
    values: { auditRetention: "400d" },
    expected: ["server", "controller"].map((component) => [
      ...(["Deployment", `keyplane-${component}`] as const),
      podOf({ containers: [{ args: holding("--audit-retention=400d") }] }),
    ]),
  },
  "an ingress gives the public URL": {
    values: { ingress: { enabled: true, host: "keys.example.com", tlsSecret: "tls" } },
    expected: [
      ["Ingress", "keyplane-server", { spec: { rules: [{ host: "keys.example.com" }] } }],
      [
        ...(["Deployment", "keyplane-server"] as const),
        podOf({ containers: [{ args: holding("--public-url=https://keys.example.com") }] }),
      ],
    ],
  },
  "the public URL gives the ingress its host, without a port": {
    values: { publicUrl: "https://keys.example.com:8443", ingress: { enabled: true } },
    expected: [["Ingress", "keyplane-server", { spec: { rules: [{ host: "keys.example.com" }] } }]],
  },
  "the cluster's roles gain no rights, where that is said": {
    values: { rbac: { aggregateToView: false, aggregateToEdit: false } },
    expected: [],
    absent: [
      ["ClusterRole", "keyplane-view"],
      ["ClusterRole", "keyplane-edit"],
    ],
  },
};
