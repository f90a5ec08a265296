/** The states that a declaration can be in, and what is seen of each. */
import type { Reason } from "../../../../domain/conditions.ts";
import { change } from "../../../../store/database/change.ts";
import type { Store } from "../../../../store/database/store.ts";
import { revokeKey } from "../../../../store/keys/lifecycle/revocation.ts";
import type { inNamespace } from "../../../env/kubernetes/declarations.ts";
import type { Kstatus } from "../../../env/kubernetes/kstatus.ts";

export type World = ReturnType<typeof inNamespace>;
type State = {
  readonly name: string;
  readonly kind?: "platformkeys" | "modelgateways" | "platformteams";
  readonly spec: string;
  /** What else is there. */
  readonly before?: string;
  /** Once it is Ready. */
  readonly afterwards?: (world: World, store: Store) => Promise<void>;
  readonly ready: "True" | "False";
  readonly reason: Reason;
  readonly kstatus: Kstatus;
};

export const secret = (name: string) => `
---
apiVersion: v1
kind: Secret
metadata: { name: ${name} }
stringData: { api-key: any }`;
const KINDS = { platformkeys: "PlatformKey", modelgateways: "ModelGateway", platformteams: "PlatformTeam" } as const;
export const declare = (kind: keyof typeof KINDS, name: string, spec: string) => `
---
apiVersion: keyplane.dev/v1alpha1
kind: ${KINDS[kind]}
metadata: { name: ${name} }
spec: ${spec}`;
const REPORT = "{ preset: MCPReadOnly, secret: { onLost: Report, onTampered: Report } }";
export const upstreams = (credential: string) =>
  `upstreams: [{ name: openai, dialect: openai, baseURL: https://models.invalid, credentialRef: { name: ${credential} } }]`;

export const STATES: readonly State[] = [
  { name: "fine", spec: "{ preset: MCPReadOnly }", ready: "True", reason: "Ready", kstatus: "Current" },
  {
    name: "suspended",
    spec: "{ preset: MCPReadOnly, state: Suspended }",
    ready: "True",
    reason: "Suspended",
    kstatus: "Current",
  },
  {
    name: "revoked",
    spec: "{ preset: MCPReadOnly }",
    afterwards: (world) => world.changeKey("revoked", { state: "Revoked" }),
    ready: "True",
    reason: "Revoked",
    kstatus: "Current",
  },
  {
    name: "rotating",
    spec: "{ preset: MCPReadOnly }",
    afterwards: async (world) => {
      await world.changeKey("rotating", { rotation: { trigger: "now" } });
      await world.holds("has a second version", "rotating", ({ status }) => status?.currentVersion === 2);
    },
    ready: "True",
    reason: "Ready",
    kstatus: "Current",
  },
  {
    name: "unbound",
    spec: "{ preset: GatewayDefault, gatewayRef: { name: nowhere } }",
    ready: "False",
    reason: "ReferenceNotFound",
    kstatus: "InProgress",
  },
  {
    name: "to-import",
    spec: "{ preset: MCPReadOnly, source: { type: ImportSecret, secretRef: { name: nowhere } } }",
    ready: "False",
    reason: "ImportUnusable",
    kstatus: "InProgress",
  },
  {
    name: "taken",
    before: secret("taken"),
    spec: "{ preset: MCPReadOnly }",
    ready: "False",
    reason: "SecretConflict",
    kstatus: "Failed",
  },
  {
    name: "lost",
    spec: REPORT,
    afterwards: (world) => world.remove(world.secretPath("lost")),
    ready: "False",
    reason: "SecretLost",
    kstatus: "Failed",
  },
  {
    name: "edited",
    spec: REPORT,
    afterwards: (world) => world.change(world.secretPath("edited"), { data: { "api-key": "ZWRpdGVk" } }),
    ready: "False",
    reason: "SecretTampered",
    kstatus: "Failed",
  },
  {
    name: "immutable",
    spec: "{ preset: MCPReadOnly }",
    afterwards: async (world) => {
      await world.change(world.secretPath("immutable"), { immutable: true });
      await world.changeKey("immutable", { rotation: { trigger: "now" } });
    },
    ready: "False",
    reason: "SecretImmutable",
    kstatus: "Failed",
  },
  {
    name: "expired",
    spec: "{ preset: MCPReadOnly, expiresAfter: 1s }",
    ready: "False",
    reason: "Expired",
    kstatus: "Failed",
  },
  {
    name: "ended",
    spec: "{ preset: MCPReadOnly }",
    afterwards: async (world, store) => {
      const id = (await world.key("ended"))?.status?.keyID ?? "";
      await change(store, null, (tx) => revokeKey(tx, id, "ByHand"));
    },
    ready: "False",
    reason: "Revoked",
    kstatus: "Failed",
  },
  {
    name: "protected",
    spec: "{ preset: MCPReadOnly, deletionProtection: true }",
    afterwards: (world) => world.drop(world.path("platformkeys", "protected")),
    ready: "False",
    reason: "DeletionProtected",
    kstatus: "Terminating",
  },
  {
    name: "second",
    kind: "modelgateways",
    spec: `{ publicID: first, ${upstreams("provider")} }`,
    ready: "False",
    reason: "PublicIDTaken",
    kstatus: "Failed",
  },
  {
    name: "no-credential",
    kind: "modelgateways",
    spec: `{ ${upstreams("nowhere")} }`,
    ready: "False",
    reason: "CredentialNotFound",
    kstatus: "InProgress",
  },
  {
    name: "rival",
    kind: "platformteams",
    spec: "{ namespaces: [states] }",
    ready: "False",
    reason: "NamespaceTaken",
    kstatus: "Failed",
  },
];
