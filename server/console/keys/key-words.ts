import { presetOf } from "../../../domain/access/scopes.ts";
import type { Reason } from "../../../domain/conditions.ts";
import type { ClusterNames } from "../../../store/objects/cluster-names.ts";
import { inWords } from "../../management/audit/event-text.ts";
import type { KeyJson, VersionJson } from "../../management/keys/shown/key-json.ts";
import { type Html, html } from "../../pages/html.ts";
import { inCluster } from "../declared-in.ts";
import { inParts } from "../in-parts.ts";

type Tone = "good" | "warn" | "bad" | "";

const STATES = {
  active: { word: "Active", tone: "good" },
  suspended: { word: "Suspended", tone: "warn" },
  expired: { word: "Expired", tone: "warn" },
  revoked: { word: "Revoked", tone: "bad" },
} as const satisfies Record<KeyJson["state"], { word: string; tone: Tone }>;

const VERSION_TONES: Readonly<Record<string, Tone>> = {
  active: "good",
  retiring: "warn",
  revoked: "bad",
};

/** Reasons of conditions that the badges of a key already show. */
export const SAID_OF_KEYS: ReadonlySet<string> = new Set([
  "Suspended",
  "Revoked",
  "Expired",
  "LeakReported",
] satisfies Reason[]);

export function stateBadge(state: KeyJson["state"]): Html {
  const { word, tone } = STATES[state];
  return html`<span class="badge ${tone}">${word}</span>`;
}

const MAY_WORK: ReadonlySet<string> = new Set(["reserved", "active", "retiring"]);

/** True if a version may let requests through. A reserved version counts, as it may be in a Secret already. */
export function mayWork({ state }: Pick<VersionJson, "state">): boolean {
  return MAY_WORK.has(state);
}

/**
 * Returns the versions that were reported as leaked and may still let requests through, now or once the key is resumed.
 */
export function leakedVersions({ state, versions }: Pick<KeyJson, "state" | "versions">): VersionJson[] {
  if (state === "revoked") return [];
  return versions.filter((version) => version.leakedAt !== null && mayWork(version));
}

/** Badge of a leaked key, on a line of its own so that it makes no table wider. */
export const LEAKED_BADGE = html`<span class="line"><span class="badge bad">Leaked</span></span>`;

export function toneOfVersion({ state }: VersionJson): Tone {
  return VERSION_TONES[state] ?? "";
}

export function versionBadge(version: VersionJson): Html {
  return html`<span class="badge ${toneOfVersion(version)}">${inWords(version.state)}</span>`;
}

/** Returns a key's scopes in few words: the name of the preset with the same scopes, or each scope. */
export function scopesText({ scopes }: Pick<KeyJson, "scopes">): string {
  return presetOf(scopes) ?? scopes.join(", ");
}

/** True if any of a key's scopes is for gateways. */
export function mayCallModels({ scopes }: Pick<KeyJson, "scopes">): boolean {
  return scopes.some((scope) => scope.startsWith("gateway:"));
}

/** Describes the gateway and the libraries that a key is bound to. */
export function bindingsOf({ spec, scopes }: Pick<KeyJson, "spec" | "scopes">): string[] {
  const { gatewayRef, libraryAccess } = spec;
  const ofGateway = mayCallModels({ scopes });
  const ofMemory = scopes.some((scope) => scope.startsWith("memory:"));
  return [
    ...(ofGateway ? [gatewayRef === undefined ? "Any gateway" : `Gateway ${refName(gatewayRef)}`] : []),
    ...(ofMemory ? [librariesOf(libraryAccess)] : []),
  ];
}

function librariesOf(access: KeyJson["spec"]["libraryAccess"]): string {
  if (access?.mode !== "Restricted") return "All libraries";
  const names = (access.libraryRefs ?? []).map(refName);
  if (names.length === 0) return "No library";
  return `${names.length === 1 ? "Library" : "Libraries"} ${names.join(", ")}`;
}

/** Writes a reference as people do. */
export function refName({ namespace, name }: { readonly namespace?: string; readonly name: string }): string {
  return namespace === undefined || namespace === "" ? name : `${namespace}/${name}`;
}

/** Names the place where a key is declared or managed. */
export function declarationOf(
  {
    declaredIn,
    namespace,
    name,
    released,
    managedBy,
  }: Pick<KeyJson, "declaredIn" | "namespace" | "name" | "released" | "managedBy">,
  clusters: ClusterNames,
): Html | string {
  if (declaredIn !== null) return html`${refName({ namespace, name })}${inCluster(clusters, declaredIn.cluster)}`;
  if (released) return `Nowhere any more: ${refName({ namespace, name })} has let go of it`;
  return managedBy === null ? "Console or API" : inParts(managedBy);
}

/** True if the key is changed in the console: it is not declared, not released, and not managed by another program. */
export function isMadeByHand({
  declaredIn,
  released,
  managedBy,
}: Pick<KeyJson, "declaredIn" | "released" | "managedBy">) {
  return declaredIn === null && !released && managedBy === null;
}

/** Returns when a version ends or ended, in RFC 3339; null if that is unknown. */
export function endOfVersion({ state, retiresAt, expiresAt }: VersionJson, { revocation }: KeyJson): string | null {
  return retiresAt ?? (state === "revoked" ? (revocation?.at ?? null) : expiresAt);
}
