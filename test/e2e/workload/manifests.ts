import { readFileSync } from "node:fs";
import { join } from "node:path";

const CLIENT = readFileSync(join(import.meta.dirname, "client.ts"), "utf8");

/** Objects as kubectl takes them. */
export const list = (items: readonly object[]): string => JSON.stringify({ apiVersion: "v1", kind: "List", items });

const keyplane = (kind: string, name: string, namespace: string | undefined, spec: object) => ({
  apiVersion: "keyplane.dev/v1alpha1",
  kind,
  metadata: { name, namespace },
  spec,
});

/** A namespace that lets only restricted pods in. */
export const namespace = (name: string) => ({
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
});

export const team = (name: string, namespaces: readonly string[]) =>
  keyplane("PlatformTeam", name, undefined, { namespaces });
export const library = (name: string, namespace: string) => keyplane("MemoryLibrary", name, namespace, {});
export const key = (name: string, namespace: string, spec: object) =>
  keyplane("PlatformKey", name, namespace, { preset: "MCPReadOnly", ...spec });

/** The client's program, which its pods mount. */
export const program = (namespace: string) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "client", namespace },
  data: { "client.ts": CLIENT },
});

type PodOptions = { readonly app: string; readonly image: string; readonly servers: readonly string[] };

/** A pod of the client that has the key as a file. */
export const podWithFile = (namespace: string, secret: string, options: PodOptions) => ({
  apiVersion: "v1",
  kind: "Pod",
  ...podTemplate(options, {
    env: [{ name: "KEY_FILE", value: "/key/api-key" }],
    volumes: [{ name: "key", secret: { secretName: secret } }],
    mounts: [{ name: "key", mountPath: "/key", readOnly: true }],
  }),
  metadata: { name: options.app, namespace, labels: { app: options.app } },
});

/** A Deployment of the client that has the key in its environment. */
export const deploymentWithVariable = (namespace: string, secret: string, options: PodOptions) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: options.app, namespace },
  spec: {
    replicas: 1,
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    selector: { matchLabels: { app: options.app } },
    template: podTemplate(options, {
      env: [{ name: "KEY", valueFrom: { secretKeyRef: { name: secret, key: "api-key" } } }],
      volumes: [],
      mounts: [],
    }),
  },
});

type Additions = {
  readonly env: readonly object[];
  readonly volumes: readonly object[];
  readonly mounts: readonly object[];
};

function podTemplate({ app, image, servers }: PodOptions, { env, volumes, mounts }: Additions) {
  return {
    metadata: { labels: { app } },
    spec: {
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      dnsPolicy: "Default",
      terminationGracePeriodSeconds: 5,
      securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
      containers: [
        {
          name: "client",
          image,
          args: ["/client/client.ts"],
          env: [{ name: "SERVERS", value: servers.join(",") }, ...env],
          volumeMounts: [{ name: "client", mountPath: "/client", readOnly: true }, ...mounts],
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ["ALL"] },
          },
        },
      ],
      volumes: [{ name: "client", configMap: { name: "client" } }, ...volumes],
    },
  };
}

/** Made by `infra/rbac`. */
export const NAMESPACE_OF_PRODUCT = "keyplane-system";

/** The environment of Keyplane's own pods. */
export const keyplaneSettings = (settings: Readonly<Record<string, string>>) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "settings", namespace: NAMESPACE_OF_PRODUCT },
  stringData: settings,
});

/** A command of Keyplane as one pod in the network of its node, available once its admin listener says that it is ready. */
export const keyplaneDeployment = (
  name: string,
  image: string,
  args: readonly string[],
  admin: { readonly host: string; readonly port: number },
) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, namespace: NAMESPACE_OF_PRODUCT },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        serviceAccountName: "keyplane-controller",
        hostNetwork: true,
        securityContext: { runAsNonRoot: true, runAsUser: 65_532 },
        containers: [
          {
            name: "keyplane",
            image,
            args: [...args, "--admin-host", admin.host, "--admin-port", String(admin.port)],
            envFrom: [{ secretRef: { name: "settings" } }],
            readinessProbe: { httpGet: { path: "/readyz", ...admin }, periodSeconds: 1 },
            securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
          },
        ],
      },
    },
  },
});
