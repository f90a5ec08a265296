/** What `keyplane wait` waits for, as kubectl names it: `condition=Ready`, `condition=Ready=False`, `delete`. */
import { CONDITION_TYPES } from "../../domain/conditions.ts";
import { suggestion } from "../../domain/manifest/document/suggestion.ts";
import { UsageError } from "../command/usage-error.ts";
import { readiness } from "../data/status-files.ts";
import type { ListedObject } from "../source/source.ts";

export type AwaitedState = {
  /**
   * @param object undefined where there is none
   * @param first the object as it was seen first: one that is made anew under its name is another
   */
  isMet(object: ListedObject | undefined, first?: ListedObject): boolean;
  /** What is so instead, for a person. */
  instead(object: ListedObject | undefined): string;
};

const STATUSES = ["True", "False", "Unknown"];

/** @throws UsageError for what nothing can be waited for by */
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
      const { condition, isCurrent } = conditionOf(object, type);
      if (condition === undefined) return `it has no condition ${type}${reasonOf(object)}`;
      if (!isCurrent) return "its last change has not been reconciled yet";
      return `${type} is ${condition.status} (${condition.reason})${condition.message && `: ${condition.message}`}`;
    },
  };
}

/** As kubectl has it: also where another of its name has taken its place. */
function isGone(object: ListedObject | undefined, first = object): boolean {
  const [uid, firstUid] = [object?.metadata.uid, first?.metadata.uid];
  return object === undefined || (uid !== undefined && firstUid !== undefined && uid !== firstUid);
}

/** A condition, and whether it is about the object as it is declared now. */
function conditionOf(object: ListedObject | undefined, type: string) {
  const { status, metadata } = object ?? {};
  const condition = status?.conditions?.find((one) => one.type === type);
  const seen = condition?.observedGeneration ?? status?.observedGeneration;
  return { condition, isCurrent: seen === undefined || seen >= (metadata?.generation ?? 0) };
}

function reasonOf(object: ListedObject): string {
  const ready = readiness(object);
  return ready === undefined ? "" : `: ${ready.reason}: ${ready.message}`;
}
