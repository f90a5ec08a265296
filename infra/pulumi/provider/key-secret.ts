/** The secrets of a key: made here, known to the store by their hashes, and to the state of a stack, encrypted. */
import { hash, randomBytes } from "node:crypto";
import { defined } from "../../../domain/defined.ts";
import { parseDuration } from "../../../domain/duration.ts";
import { keyPrefix, mintKey } from "../../../domain/key/secret/key-format.ts";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import { type ApiObject, readVersion, type Version } from "./api/api-object.ts";
import type { Inputs } from "./resources.ts";
import type { Update } from "./update.ts";
import type { Values } from "./values.ts";

/** A secret that a version is to have, and what the API receives of it. */
export type NewSecret = {
  readonly text: string;
  readonly source: { readonly hash: { readonly sha256: string; readonly prefix: string } };
};

export function newSecret(text = mintKey(randomBytes)): NewSecret {
  return { text, source: { hash: { sha256: hash("sha256", text, "hex"), prefix: keyPrefix(text) } } };
}

/**
 * The secret for a new version: the one that an `up` sent and had no answer to, so that the same version comes of it; a
 * new one where there is none, or where its version has been succeeded since.
 */
export function nextSecret({ pendingSecret }: Inputs, versions: readonly Version[]): NewSecret {
  if (typeof pendingSecret !== "string") return newSecret();
  const made = versions.find(({ prefix }) => prefix === keyPrefix(pendingSecret));
  return newSecret(made === undefined || made.state === "active" ? pendingSecret : undefined);
}

/** The secrets that a program sees. */
export type KeySecrets = { readonly secret?: string; readonly previousSecret?: string };

/**
 * Which of the secrets that are known work now, by the versions that they are of: that of the version in use, and that
 * of the newest one before it whose overlap has not ended.
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

/** Those of the secrets that work now which the program wants to see. */
export function deliveredSecrets(inputs: Values, known: readonly string[], { versions }: ApiObject): KeySecrets {
  return inputs.deliver === "none" ? {} : livingSecrets(known, versions);
}

/** What a state has of a key's secrets, one that may have come to be among them. */
export function knownSecrets({ secret, previousSecret, pendingSecret }: Inputs): string[] {
  return [pendingSecret, secret, previousSecret].filter((text) => typeof text === "string");
}

/** Why a key is to have a new version: its secret is lost; the program asks for one; the one it has is too old. */
export type VersionReason = "SecretLost" | "TriggerChanged" | "IntervalPassed";

/** @param now milliseconds since the epoch */
export function versionReason({ olds, oldInputs, news }: Update<Inputs>, now: number): VersionReason | undefined {
  const versions = versionsOf(olds);
  const [newest] = versions;
  if (newest === undefined) return "SecretLost";
  const { trigger, interval } = rotationOf(news);
  if (trigger !== undefined && trigger !== rotationOf(oldInputs).trigger) return "TriggerChanged";
  const isOld = typeof interval === "string" && Date.parse(newest.mintedAt) + parseDuration(interval) <= now;
  return isOld ? "IntervalPassed" : undefined;
}

/** Whether the state shows an old secret whose overlap has ended. */
export function isPreviousOver(olds: Inputs, now: number): boolean {
  if (typeof olds.previousSecret !== "string") return false;
  const prefix = keyPrefix(olds.previousSecret);
  const version = versionsOf(olds).find((one) => one.prefix === prefix);
  return version?.retiresAt === undefined || Date.parse(version.retiresAt) <= now;
}

/** How long the version before a new one works on, as the API takes it. */
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
