/**
 * Violations that an edit adds to those of a key: the one place that decides this, for declared keys, for keys made by
 * hand, and for admission (docs/decisions/key-policies.md).
 */
import { UNDECLARED_CONCURRENT } from "../../access/rate-limit.ts";
import type { Budget } from "../../budget/budget.ts";
import { asksForMore } from "./bound-budgets.ts";
import type { DeclaredPolicy } from "./declared-policy.ts";
import { ANYTHING, type JudgedKey, judgeKey, type KeyFacts, lifeOf, type Violation } from "./judge-key.ts";
import type { RuleName } from "./rules-in-force.ts";

/** A key before and after an edit, in both cases with the policies' defaults for what it does not declare. */
export type KeyEdit = {
  readonly before: JudgedKey;
  readonly after: JudgedKey;
  readonly policies: readonly DeclaredPolicy[];
  readonly facts: KeyFacts;
};

/**
 * Returns the violations of an edited key that the edit adds. What the key broke before has its deadline, and an edit
 * that only narrows it adds nothing.
 */
export function addedViolations(edit: KeyEdit): Violation[] {
  const { before, after, policies, facts } = edit;
  const known = judgeKey(before, policies, facts);
  return judgeKey(after, policies, facts).filter((violation) => {
    const same = known.find(({ policy, rule }) => policy === violation.policy && rule === violation.rule);
    if (same === undefined) return true;
    const isMore = IS_MORE[violation.rule];
    if (isMore === undefined) return hasMore(violation.values, same.values);
    const broken = policies.find(({ name }) => name === violation.policy);
    return isMore(edit, broken?.budgets ?? []);
  });
}

/** True if the rule refuses something that the key did not have before. */
function hasMore(values: readonly string[], known: readonly string[]): boolean {
  return !known.includes(ANYTHING) && values.some((value) => !known.includes(value));
}

/**
 * Tells whether an edit asks for more.
 *
 * @param budgets those of the policy that is broken
 */
type IsMore = (edit: KeyEdit, budgets: readonly Budget[]) => boolean;

/** Comparisons by rule, for rules whose amount is wider the larger it is: true if a key asks for more than before. */
const IS_MORE: Readonly<Partial<Record<RuleName, IsMore>>> = {
  "expiry.max": isMoreOf(lifeOf),
  "rotation.maxInterval": isMoreOf((key, facts) =>
    Math.min(lifeOf(key, facts), key.rotationInterval ?? Number.POSITIVE_INFINITY),
  ),
  "rateLimit.requestsPerMinute.max": isMoreOf(({ rateLimit }) =>
    rateLimit === null ? Number.POSITIVE_INFINITY : Math.max(rateLimit.requestsPerMinute, rateLimit.burst),
  ),
  "rateLimit.concurrent.max": isMoreOf(({ concurrent }) => concurrent ?? UNDECLARED_CONCURRENT),
  "rateLimit.tokensPerMinute.max": isMoreOf(
    ({ tokenLimit }) => tokenLimit?.tokensPerMinute ?? Number.POSITIVE_INFINITY,
  ),
  budgets: ({ after, before }, rules) => asksForMore(after.budgets, before.budgets, rules),
};

function isMoreOf(amount: (key: JudgedKey, facts: KeyFacts) => number): IsMore {
  return ({ after, before, facts }) => amount(after, facts) > amount(before, facts);
}
