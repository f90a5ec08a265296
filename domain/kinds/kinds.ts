import type { MemoryLibrarySpec, MemoryLibraryStatus } from "./generated/memory-library.ts";
import type { ModelGatewaySpec, ModelGatewayStatus } from "./generated/model-gateway.ts";
import type { PlatformKeySpec, PlatformKeyStatus } from "./generated/platform-key.ts";
import type { PlatformKeyPolicySpec, PlatformKeyPolicyStatus } from "./generated/platform-key-policy.ts";
import type { PlatformTeamSpec, PlatformTeamStatus } from "./generated/platform-team.ts";

/** The kinds that Keyplane declares (spec §5); their schemas are in `crds/`. */
export const KINDS = ["PlatformKey", "PlatformTeam", "PlatformKeyPolicy", "ModelGateway", "MemoryLibrary"] as const;
export type Kind = (typeof KINDS)[number];

/** Group and version of every kind, as Keyplane asks for it and writes it. */
export const API_VERSION = "keyplane.dev/v1alpha1";

/**
 * The version that the API server prefers, by which Kubernetes' garbage collector knows an owner: it asks for one that is
 * named by another version, and takes the 404 of a kind that is not served for its end
 * (docs/decisions/kubernetes-secrets.md).
 */
export const PREFERRED_API_VERSION = "keyplane.dev/v1beta1";

/** What a manifest may say: the versions differ in their names alone (docs/decisions/api-versions.md). */
export const API_VERSIONS: readonly string[] = [API_VERSION, PREFERRED_API_VERSION];

type Specs = {
  PlatformKey: PlatformKeySpec;
  PlatformTeam: PlatformTeamSpec;
  PlatformKeyPolicy: PlatformKeyPolicySpec;
  ModelGateway: ModelGatewaySpec;
  MemoryLibrary: MemoryLibrarySpec;
};

type Statuses = {
  PlatformKey: PlatformKeyStatus;
  PlatformTeam: PlatformTeamStatus;
  PlatformKeyPolicy: PlatformKeyPolicyStatus;
  ModelGateway: ModelGatewayStatus;
  MemoryLibrary: MemoryLibraryStatus;
};

/** What a manifest of that kind declares, with the schema's defaults applied. */
export type Spec<K extends Kind = Kind> = Specs[K];
/** What Keyplane writes back. A field that is not in here does not survive the API server. */
export type Status<K extends Kind = Kind> = Statuses[K];

/** Whether the text is one of our kinds, spelt exactly so. */
export function isKind(text: string): text is Kind {
  return (KINDS as readonly string[]).includes(text);
}

/** Whether objects of that kind have no namespace. */
export function isClusterScoped(kind: Kind): boolean {
  return kind === "PlatformTeam" || kind === "PlatformKeyPolicy";
}
