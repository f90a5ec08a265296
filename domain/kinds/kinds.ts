import type { MemoryLibrarySpec, MemoryLibraryStatus } from "./generated/memory-library.ts";
import type { ModelGatewaySpec, ModelGatewayStatus } from "./generated/model-gateway.ts";
import type { PlatformKeySpec, PlatformKeyStatus } from "./generated/platform-key.ts";
import type { PlatformKeyPolicySpec, PlatformKeyPolicyStatus } from "./generated/platform-key-policy.ts";
import type { PlatformTeamSpec, PlatformTeamStatus } from "./generated/platform-team.ts";

/** The kinds that Keyplane declares (spec §5); their schemas are in `crds/`. */
export const KINDS = ["PlatformKey", "PlatformTeam", "PlatformKeyPolicy", "ModelGateway", "MemoryLibrary"] as const;
export type Kind = (typeof KINDS)[number];

/** Group and version of every kind in Keyplane's requests and in what it writes. */
export const API_VERSION = "keyplane.dev/v1alpha1";

/**
 * Version that the API server prefers, and by which Kubernetes' garbage collector looks owners up: it requests an owner
 * that is named by another version, and takes the 404 of a kind that is not served as the owner's end
 * (docs/decisions/kubernetes-secrets.md).
 */
export const PREFERRED_API_VERSION = "keyplane.dev/v1beta1";

/** Versions that a manifest may state: they differ only in their names (docs/decisions/api-versions.md). */
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

/** Declared part of a manifest of a kind, with the schema's defaults applied. */
export type Spec<K extends Kind = Kind> = Specs[K];
/** Part that Keyplane writes back. A field that is not in here does not survive the API server. */
export type Status<K extends Kind = Kind> = Statuses[K];

/** True if the text is one of our kinds, in exact spelling. */
export function isKind(text: string): text is Kind {
  return (KINDS as readonly string[]).includes(text);
}

/** True if objects of a kind have no namespace. */
export function isClusterScoped(kind: Kind): boolean {
  return kind === "PlatformTeam" || kind === "PlatformKeyPolicy";
}
