/** Secrets of a key. They are made here; the store has their hashes, and the state of a stack has them encrypted. */
import { hash, randomBytes } from "node:crypto";
import { defined } from "../../../domain/defined.ts";
import { parseDuration } from "../../../domain/duration.ts";
import { keyPrefix, mintKey } from "../../../domain/key/secret/key-format.ts";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import { type ApiObject, readVersion, type Version } from "./api/api-object.ts";
import type { Inputs } from "./resources.ts";
import type { Update } from "./update.ts";
import type { Values } from "./values.ts";

/** Secret for a version, and the part of it that the API receives. */
export type NewSecret = {
  readonly text: string;
  readonly source: { readonly hash: { readonly sha256: string; readonly prefix: string } };
};

export function newSecret(text = mintKey(randomBytes)): NewSecret {
  return { text, source: { hash: { sha256: hash("sha256", text, "hex"), prefix: keyPrefix(text) } } };
}

/**
 * Returns the secret for a new version. If an `up` sent a secret and had no answer, the same one is sent again, so that
 * it gives the same version. Otherwise, or if that version is there and has been succeeded since, or the trigger has
 * changed again, the secret is new.
 */
export function nextSecret({ pendingSecret }: Inputs, versions: readonly Version[], reason: VersionReason): NewSecret {
  if (typeof pendingSecret !== "string") return newSecret();
  const made = versionWith(pendingSecret, versions);
  const isWanted = made === undefined || (made.state === "active" && reason !== "TriggerChanged");
  return newSecret(isWanted ? pendingSecret : undefined);
}

/** Returns the version that has a secret; undefined if there is none. */
export function versionWith(text: string, versions: readonly Version[]): Version | undefined {
  const prefix = keyPrefix(text);
  return versions.find((version) => version.prefix === prefix);
}

/** Secrets that a program sees. */
export type KeySecrets = { readonly secret?: string; readonly previousSecret?: string };

/**
 * Returns the known secrets that work now: that of the version in use, and that of the newest version before it whose
 * overlap has not ended.
 */
export function livingSecrets(known: readonly string[], versions: readonly Version[]): KeySecrets {
  const secretOf = (version: Version | undefined) => known.find((text) => keyPrefix(text) === version?.prefix);
  const secret = secretOf(versions.find(({ state }) => state === "active"));
  const previousSecret = versions
    .filter(({ state }) => state === "retiring")
    .map(secretOf)
    .find(Boolean);
  return defined({ secret, previousSecret });
}

/** Returns the secrets that work now and that the program wants to see. */
export function deliveredSecrets(inputs: Values, known: readonly string[], { versions }: ApiObject): KeySecrets {
  return inputs.deliver === "none" ? {} : livingSecrets(known, versions);
}

/** Returns the secrets of a key in a state, including a secret that the server may have received. */
export function knownSecrets({ secret, previousSecret, pendingSecret }: Inputs): string[] {
  return [pendingSecret, secret, previousSecret].filter((text) => typeof text === "string");
}

/**
 * Reason for a new version: its secret is lost, the program requests one, no answer came to the request for one, or the
 * present one is too old.
 */
export type VersionReason = "SecretLost" | "TriggerChanged" | "AnswerLost" | "IntervalPassed";

/**
 * Returns why a key needs a new version; undefined if it does not.
 *
 * @param now milliseconds since the epoch
 */
export function versionReason({ olds, oldInputs, news }: Update<Inputs>, now: number): VersionReason | undefined {
  const versions = versionsOf(olds);
  const [newest] = versions;
  if (newest === undefined) return "SecretLost";
  const { trigger, interval } = rotationOf(news);
  const isPending = olds.pendingSecret !== undefined;
  // Beside a pending secret, the outputs alone have the rotation that asked for it.
  const before = [olds, ...(isPending ? [] : [oldInputs])].map((values) => rotationOf(values).trigger);
  if (trigger !== undefined && before.some((one) => one !== trigger)) return "TriggerChanged";
  if (isPending) return "AnswerLost";
  const isOld = typeof interval === "string" && Date.parse(newest.mintedAt) + parseDuration(interval) <= now;
  return isOld ? "IntervalPassed" : undefined;
}

/** True if the state shows an old secret whose overlap has ended. */
export function isPreviousOver(olds: Inputs, now: number): boolean {
  if (typeof olds.previousSecret !== "string") return false;
  const version = versionWith(olds.previousSecret, versionsOf(olds));
  return version?.retiresAt === undefined || Date.parse(version.retiresAt) <= now;
}

/** Returns the overlap for which the version before a new one works on, as the API takes it. */
export function overlapFor(reason: VersionReason, news: Inputs): string {
  const { overlap } = rotationOf(news);
  return reason === "SecretLost" ? "0s" : typeof overlap === "string" ? overlap : "24h";
}

function rotationOf({ rotation }: Inputs): Inputs {
  return isRecord(rotation) ? (rotation as Inputs) : {};
}

function versionsOf({ versions }: Inputs): Version[] {
  return Array.isArray(versions) ? versions.map(readVersion) : [];
}
