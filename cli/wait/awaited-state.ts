/**
 * State that `keyplane wait` waits for, written as for kubectl: `condition=Ready`, `condition=Ready=False`, `delete`.
 */
import { CONDITION_TYPES } from "../../domain/conditions.ts";
import { suggestion } from "../../domain/manifest/document/suggestion.ts";
import { UsageError } from "../command/usage-error.ts";
import { readiness } from "../data/status-files.ts";
import type { ListedObject } from "../source/source.ts";

export type AwaitedState = {
  /**
   * True if the object is in the state.
   *
   * @param object undefined if there is none
   * @param first the object as it was first seen: an object made again under its name is another
   */
  isMet(object: ListedObject | undefined, first?: ListedObject): boolean;
  /** Returns how the object is instead, for a person. */
  instead(object: ListedObject | undefined): string;
};

const STATUSES = ["True", "False", "Unknown"];

/**
 * Parses the state.
 *
 * @throws UsageError for anything else
 */
export function parseAwaitedState(text: string): AwaitedState {
  if (text === "delete") return { isMet: isGone, instead: () => "it is still there" };
  const [, word, status = "True"] = /^condition=(\w+)(?:=(\w+))?$/.exec(text) ?? [];
  if (word === undefined) {
    throw new UsageError(`--for ${text}: write condition=TYPE, condition=TYPE=STATUS or delete`);
  }
  const type = CONDITION_TYPES.find((one) => one.toLowerCase() === word.toLowerCase());
  if (type === undefined) {
    throw new UsageError(`--for ${text}: there is no such condition: ${suggestion(word, CONDITION_TYPES)}`);
  }
  if (!STATUSES.some((one) => one.toLowerCase() === status.toLowerCase())) {
    throw new UsageError(`--for ${text}: there is no such status: ${suggestion(status, STATUSES)}`);
  }
  return {
    isMet(object) {
      const { condition, isCurrent } = conditionOf(object, type);
      return isCurrent && condition?.status.toLowerCase() === status.toLowerCase();
    },
    instead(object) {
      if (object === undefined) return "there is none";
      if (object.notCurrent !== undefined) return object.notCurrent;
      const { condition, isCurrent } = conditionOf(object, type);
      if (condition === undefined) return `it has no condition ${type}${reasonOf(object)}`;
      if (!isCurrent) return "its last change has not been reconciled yet";
      return `${type} is ${condition.status} (${condition.reason})${condition.message && `: ${condition.message}`}`;
    },
  };
}

/** True if the object is gone, as in kubectl: also if another object of its name has taken its place. */
function isGone(object: ListedObject | undefined, first = object): boolean {
  const [uid, firstUid] = [object?.metadata.uid, first?.metadata.uid];
  return object === undefined || (uid !== undefined && firstUid !== undefined && uid !== firstUid);
}

/** Returns a condition, and whether it is about the object as it is declared now. */
function conditionOf(object: ListedObject | undefined, type: string) {
  const { status, metadata, notCurrent } = object ?? {};
  const condition = status?.conditions?.find((one) => one.type === type);
  const seen = condition?.observedGeneration ?? status?.observedGeneration;
  const isReconciled = seen === undefined || seen >= (metadata?.generation ?? 0);
  return { condition, isCurrent: notCurrent === undefined && isReconciled };
}

function reasonOf(object: ListedObject): string {
  const ready = readiness(object);
  return ready === undefined ? "" : `: ${ready.reason}: ${ready.message}`;
}
