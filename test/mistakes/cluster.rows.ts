/** Mistakes that are made with a cluster, and what an operator reads of each. */

/** One mistake: what is applied, and the words that the cluster answers with. */
export type ClusterMistake = {
  /** What was done, in a sentence. */
  readonly done: string;
  /** The row's own namespace, which a team claims unless the row says otherwise. */
  readonly namespace: string;
  /** Applied to the namespace one after the other, in YAML; only the last may be refused. */
  readonly manifests: readonly string[];
  /** As `kubectl get` takes it: the object whose condition `Ready` and whose event say it. Without it `kubectl apply` does. */
  readonly object?: string;
  /** Where it is not so that a team claims the namespace. */
  readonly isUnclaimed?: true;
  /** Where the controller's Role of infra/rbac/namespace.yaml is not applied to the namespace. */
  readonly isWithoutRole?: true;
  /** The whole message. */
  readonly says: string;
};

const KEY = `
apiVersion: keyplane.dev/v1alpha1
kind: PlatformKey
metadata: { name: agent }
spec: { preset: MCPReadOnly }
`;

const gateway = (name: string, publicID: string, secret: string) => `
apiVersion: keyplane.dev/v1alpha1
kind: ModelGateway
metadata: { name: ${name} }
spec:
  publicID: ${publicID}
  upstreams:
    - { name: openai, dialect: openai, baseURL: https://models.invalid, credentialRef: { name: ${secret}, key: api-key } }
`;

const PROVIDER = `
apiVersion: v1
kind: Secret
metadata: { name: provider }
stringData: { api-key: any }
`;

export const CLUSTER_MISTAKES: readonly ClusterMistake[] = [
  {
    done: "A key is declared in a namespace that no team claims.",
    namespace: "unclaimed",
    isUnclaimed: true,
    manifests: [KEY],
    object: "platformkey/agent",
    says: "No PlatformTeam claims this namespace. Correct the namespace, or add it to spec.namespaces of a PlatformTeam.",
  },
  {
    done: "A second team claims a namespace.",
    namespace: "taken",
    manifests: [
      `
apiVersion: keyplane.dev/v1alpha1
kind: PlatformTeam
metadata: { name: rival }
spec: { namespaces: [taken] }
`,
    ],
    object: "platformteam/rival",
    says: "taken is held by PlatformTeam taken-team. Remove the namespace from this team, or from the one that holds it.",
  },
  {
    done: "The Secret that a key is to be written to is there already.",
    namespace: "conflict",
    manifests: [
      `
apiVersion: v1
kind: Secret
metadata: { name: agent }
stringData: { password: any }
`,
      KEY,
    ],
    object: "platformkey/agent",
    says: "Secret agent exists and is not this key's. Declare another PlatformKey with another spec.secret.name; or delete the Secret that is in the way, unless another PlatformKey writes it.",
  },
  {
    done: "A gateway names a Secret for its provider's credential, and the name is misspelt.",
    namespace: "credential",
    manifests: [PROVIDER, gateway("main", "credential-main", "providr")],
    object: "modelgateway/main",
    says: "There is no Secret providr with data key api-key (upstream openai). Create the Secret that spec.upstreams[].credentialRef names, with that key.",
  },
  {
    done: "A key is bound to a gateway, whose name is misspelt.",
    namespace: "reference",
    manifests: [
      PROVIDER,
      gateway("main", "reference-main", "provider"),
      `
apiVersion: keyplane.dev/v1alpha1
kind: PlatformKey
metadata: { name: chat }
spec: { preset: GatewayDefault, gatewayRef: { name: mian } }
`,
    ],
    object: "platformkey/chat",
    says: "ModelGateway reference/mian is not in this team. Declare what is referred to, or correct its name and namespace.",
  },
  {
    done: "Two gateways declare the same public id.",
    namespace: "public-id",
    manifests: [PROVIDER, gateway("main", "models", "provider"), gateway("other", "models", "provider")],
    object: "modelgateway/other",
    says: "The public id models belongs to another gateway. Declare another ModelGateway with another spec.publicID, and delete this one.",
  },
  {
    done: "The controller has no Role in the namespace.",
    namespace: "role",
    isWithoutRole: true,
    manifests: [KEY],
    object: "platformkey/agent",
    says: 'Secret agent cannot be read: while reading Secret role/agent: secrets "agent" is forbidden: User "system:serviceaccount:keyplane-system:keyplane-controller" cannot get resource "secrets" in API group "" in the namespace "role". Give the controller its Role in this namespace: by keyNamespaces of the chart, or without Helm by infra/rbac/namespace.yaml. In a folder of manifests, correct the Secret\'s manifest, or put it back.',
  },
  {
    done: "A revoked key is declared Active again.",
    namespace: "revoked",
    manifests: [KEY.replace("spec: {", "spec: { state: Revoked,"), KEY.replace("spec: {", "spec: { state: Active,")],
    says: 'The PlatformKey "agent" is invalid: spec.state: Invalid value: "Active": Revoked is final: leave state: Revoked and declare another PlatformKey, or delete this one and make it again',
  },
];
