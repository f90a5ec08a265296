/** What operators set of pods, row by row. */
import { holding, LABELS, podOf, type ValueCases, without } from "./value-case.ts";

const SIDECAR = {
  name: "proxy",
  image: "proxy:1",
  restartPolicy: "Always",
  securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
};
const { restartPolicy: _, ...CONTAINER } = { ...SIDECAR, name: "beside" };
const VOLUME = { name: "scratch", emptyDir: {} };
const MOUNT = { name: "scratch", mountPath: "/scratch" };
const PASSWORD = { name: "PGPASSWORD", valueFrom: { secretKeyRef: { name: "database-password", key: "password" } } };
const FIRST = { topologyKey: "kubernetes.io/hostname", maxSkew: 2, whenUnsatisfiable: "DoNotSchedule" };
const OWN_SELECTOR = { matchLabels: { "example.com/pool": "a" } };
const SECOND = { ...FIRST, topologyKey: "topology.kubernetes.io/zone" };
const bindingOf = (name: string) => ({ subjects: [{ kind: "ServiceAccount", name, namespace: "keyplane-system" }] });
const ACCOUNT = { create: true, name: "of-cloud", annotations: { "example.com/role": "db" }, labels: LABELS };
const MORE_OF_POD = {
  ...{ initContainers: [SIDECAR], extraContainers: [CONTAINER], extraVolumes: [VOLUME], extraVolumeMounts: [MOUNT] },
  extraEnv: [PASSWORD],
};

export const POD_VALUE_CASES: ValueCases = {
  "the user and the groups of pods are the cluster's to choose, where they are null": {
    values: { podSecurityContext: { runAsUser: null, runAsGroup: null, fsGroup: null } },
    expected: ["Deployment/keyplane-server", "Deployment/keyplane-controller", "Job/keyplane-migration"].map(
      (object) => {
        const [kind = "", name = ""] = object.split("/");
        const securityContext = without("runAsUser", "runAsGroup", "fsGroup");
        return [kind, name, podOf({ securityContext })] as const;
      },
    ),
  },
  "a container's security has members to change": {
    values: { securityContext: { readOnlyRootFilesystem: null, privileged: false } },
    expected: [
      [
        ...(["Job", "keyplane-migration"] as const),
        podOf({ containers: [{ securityContext: without("readOnlyRootFilesystem") }] }),
      ],
    ],
  },
  "the controller's account has another name, which its rights and the policies follow": {
    values: { controller: { serviceAccount: ACCOUNT }, keyNamespaces: ["team-a"] },
    expected: [
      ["ServiceAccount", "of-cloud", { metadata: { annotations: ACCOUNT.annotations, labels: LABELS } }],
      ["Deployment", "keyplane-controller", podOf({ serviceAccountName: "of-cloud" })],
      ["ClusterRoleBinding", "keyplane-controller", bindingOf("of-cloud")],
      ["RoleBinding", "keyplane-keys", bindingOf("of-cloud")],
      [
        ...(["ValidatingAdmissionPolicy", "keyplane-status"] as const),
        {
          spec: {
            validations: [
              { expression: 'request.userInfo.username in ["system:serviceaccount:keyplane-system:of-cloud"]' },
            ],
          },
        },
      ],
    ],
    absent: [["ServiceAccount", "keyplane-controller"]],
  },
  "an account that is there is taken": {
    values: { controller: { serviceAccount: { create: false, name: "brought" } } },
    expected: [
      ["Deployment", "keyplane-controller", podOf({ serviceAccountName: "brought" })],
      ["ClusterRoleBinding", "keyplane-controller", bindingOf("brought")],
    ],
    absent: [
      ["ServiceAccount", "keyplane-controller"],
      ["ServiceAccount", "brought"],
    ],
  },
  "servers and the migration have accounts of their own, without a token of the cluster": {
    values: { server: { serviceAccount: { create: true } }, migration: { serviceAccount: { ...ACCOUNT, name: "" } } },
    expected: [
      ["ServiceAccount", "keyplane-server", {}],
      [
        ...(["ServiceAccount", "keyplane-migration"] as const),
        { metadata: { annotations: { ...ACCOUNT.annotations, "helm.sh/hook": "pre-install,pre-upgrade" } } },
      ],
      [
        ...(["Deployment", "keyplane-server"] as const),
        podOf({ serviceAccountName: "keyplane-server", automountServiceAccountToken: false }),
      ],
      [
        ...(["Job", "keyplane-migration"] as const),
        podOf({ serviceAccountName: "keyplane-migration", automountServiceAccountToken: false }),
      ],
    ],
  },
  "controllers and servers take sidecars, volumes and variables": {
    values: { controller: MORE_OF_POD, server: MORE_OF_POD },
    expected: ["controller", "server"].map(
      (component) =>
        [
          ...(["Deployment", `keyplane-${component}`] as const),
          podOf({
            initContainers: [SIDECAR],
            containers: [{ name: component, env: holding(PASSWORD), volumeMounts: holding(MOUNT) }, CONTAINER],
            volumes: holding(VOLUME),
          }),
        ] as const,
    ),
  },
  "the migration has a password in a variable, a sidecar that ends with it, and the marks of a mesh": {
    values: {
      migration: {
        ...{ extraEnv: [PASSWORD], initContainers: [SIDECAR], extraVolumes: [VOLUME], extraVolumeMounts: [MOUNT] },
        ...{
          labels: LABELS,
          annotations: { "example.com/of": "job" },
          podLabels: { "sidecar.istio.io/inject": "false" },
        },
        podAnnotations: { "linkerd.io/inject": "disabled" },
        resources: { limits: { memory: "1Gi" } },
      },
    },
    expected: [
      [
        ...(["Job", "keyplane-migration"] as const),
        {
          metadata: {
            labels: LABELS,
            annotations: { "example.com/of": "job", "helm.sh/hook": "pre-install,pre-upgrade" },
          },
          spec: {
            template: {
              metadata: {
                labels: { "sidecar.istio.io/inject": "false" },
                annotations: { "linkerd.io/inject": "disabled" },
              },
              spec: {
                initContainers: [SIDECAR],
                containers: [
                  {
                    name: "migrate",
                    env: holding(PASSWORD),
                    volumeMounts: holding(MOUNT),
                    resources: { requests: { cpu: "100m" }, limits: { memory: "1Gi" } },
                  },
                ],
                volumes: holding(VOLUME),
              },
            },
          },
        },
      ],
    ],
  },
  "a Deployment has annotations, and keeps as many old versions as is said": {
    values: { server: { deploymentAnnotations: { "example.com/reload": "true" }, revisionHistoryLimit: 2 } },
    expected: [
      [
        ...(["Deployment", "keyplane-server"] as const),
        { metadata: { annotations: { "example.com/reload": "true" } }, spec: { revisionHistoryLimit: 2 } },
      ],
    ],
  },
  "pods are exchanged as is said, the numbers of a rolling update being left out of another way": {
    values: {
      controller: { strategy: { type: "Recreate" } },
      server: { strategy: { rollingUpdate: { maxSurge: 3 } } },
    },
    expected: [
      ["Deployment", "keyplane-controller", { spec: { strategy: without("rollingUpdate") } }],
      ["Deployment", "keyplane-server", { spec: { strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 0 } } } }],
    ],
  },
  "pods are spread as is said, by their own labels unless others are named": {
    values: {
      controller: { topologySpreadConstraints: [] },
      server: { topologySpreadConstraints: [FIRST, { ...SECOND, labelSelector: OWN_SELECTOR }] },
    },
    expected: [
      ["Deployment", "keyplane-controller", podOf(without("topologySpreadConstraints"))],
      [
        ...(["Deployment", "keyplane-server"] as const),
        podOf({
          topologySpreadConstraints: [
            { ...FIRST, labelSelector: { matchLabels: { "app.kubernetes.io/component": "server" } } },
            { ...SECOND, labelSelector: OWN_SELECTOR },
          ],
        }),
      ],
    ],
  },
};
