import { KINDS, type Kind } from "../../domain/kinds/kinds.ts";
import { suggest } from "../../domain/manifest/document/suggestion.ts";
import { UsageError } from "../command/usage-error.ts";

/** Words for each kind: the plural, the singular, then the names in `crds/`. A test compares them with `crds/`. */
export const KIND_WORDS: Readonly<Record<Kind, readonly [plural: string, singular: string, ...more: string[]]>> = {
  PlatformKey: ["keys", "key", "platformkeys", "platformkey", "pkey"],
  PlatformTeam: ["teams", "team", "platformteams", "platformteam", "pteam"],
  PlatformKeyPolicy: ["policies", "policy", "platformkeypolicies", "platformkeypolicy", "pkpol"],
  ModelGateway: ["gateways", "gateway", "modelgateways", "modelgateway", "mgw"],
  MemoryLibrary: ["libraries", "library", "memorylibraries", "memorylibrary", "mlib"],
};

/** Plurals of all kinds, for messages. */
export const PLURALS = KINDS.map((kind) => KIND_WORDS[kind][0]).join(", ");

/** Returns the kind that a word means; undefined if it means none. */
export function kindOf(word: string): Kind | undefined {
  return KINDS.find((kind) => KIND_WORDS[kind].includes(word.toLowerCase()));
}

/**
 * Returns the error for a word that means no kind, with the word most likely meant.
 *
 * @param all a word for every kind
 */
export function unknownKind(command: string, word: string, all?: string): UsageError {
  const words = [...Object.values(KIND_WORDS).flat(), ...(all === undefined ? [] : [all])];
  const near = suggest(word, words);
  const choice = all === undefined ? `one of ${PLURALS}` : `${PLURALS} or ${all}`;
  return new UsageError(
    `${command} ${word}: there is no such kind: ${near === undefined ? `write ${choice}` : `did you mean ${near}?`}`,
  );
}
