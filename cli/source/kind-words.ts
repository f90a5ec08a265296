import { KINDS, type Kind } from "../../domain/kinds/kinds.ts";
import { suggest } from "../../domain/manifest/document/suggestion.ts";
import { UsageError } from "../command/usage-error.ts";

/** What people call each kind: the plural first, then the singular, then the names of `crds/`. A test compares them. */
export const KIND_WORDS: Readonly<Record<Kind, readonly [plural: string, singular: string, ...more: string[]]>> = {
  PlatformKey: ["keys", "key", "platformkeys", "platformkey", "pkey"],
  PlatformTeam: ["teams", "team", "platformteams", "platformteam", "pteam"],
  PlatformKeyPolicy: ["policies", "policy", "platformkeypolicies", "platformkeypolicy", "pkpol"],
  ModelGateway: ["gateways", "gateway", "modelgateways", "modelgateway", "mgw"],
  MemoryLibrary: ["libraries", "library", "memorylibraries", "memorylibrary", "mlib"],
};

/** The kinds by the words that messages name them by. */
export const PLURALS = KINDS.map((kind) => KIND_WORDS[kind][0]).join(", ");

/** Undefined for a word that means no kind. */
export function kindOf(word: string): Kind | undefined {
  return KINDS.find((kind) => KIND_WORDS[kind].includes(word.toLowerCase()));
}

/** That a command was given a word which means no kind, and what was most likely meant. @param all a word for every kind */
export function unknownKind(command: string, word: string, all?: string): UsageError {
  const words = [...Object.values(KIND_WORDS).flat(), ...(all === undefined ? [] : [all])];
  const near = suggest(word, words);
  const choice = all === undefined ? `one of ${PLURALS}` : `${PLURALS} or ${all}`;
  return new UsageError(
    `${command} ${word}: there is no such kind: ${near === undefined ? `write ${choice}` : `did you mean ${near}?`}`,
  );
}
