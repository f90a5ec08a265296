import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { MemberToken } from "../../domain/access/membership.ts";
import type { OperationName } from "../../domain/access/operations.ts";
import type { LimitOwner } from "../../domain/access/rate-limit.ts";
import type { Product } from "../../domain/access/scopes.ts";
import type { SourceRefusal } from "../../domain/access/source-addresses.ts";
import type { OwnedBudget } from "../../domain/budget/budget.ts";
import type { BudgetRefusal } from "../budgets/budget-grants.ts";
import { type MetRate, refusingRate } from "./charge-rate.ts";

/** A use of a key: the product, and the operation, undefined if path and method are none. */
export type UsedOperation = { readonly product: Product; readonly operation: OperationName | undefined };

/** A request that is refused. */
export type Refused = {
  readonly granted: false;
  readonly code:
    | "unavailable"
    | "unauthorized"
    | "address_not_allowed"
    | "forbidden"
    | "not_found"
    | "rate_limited"
    | "budget_exceeded"
    | "invalid_request";
  /** Label of the refusal in metrics and the audit log, which may choose among the answers of the code. */
  readonly cause: string;
  /** The key that the credential resolves to; undefined if it resolves to none. */
  readonly key: KeyRecord | undefined;
  readonly by: RefusedBy;
};

/** The check that refuses a request, with what the answer says beyond the code. */
export type RefusedBy =
  /** A check whose code says all: the index, the credential, the path. */
  | { readonly kind: "code" }
  /** The list of source addresses that the client's address is not on. */
  | { readonly kind: "source address"; readonly list: SourceRefusal }
  /** The key's scopes, or its binding to one gateway. */
  | { readonly kind: "access"; readonly asked: UsedOperation }
  /** The actor of a valid token, for whom `key` says nothing: it resolves to no single member. */
  | { readonly kind: "membership"; readonly actor: string }
  /** The rate limits that judged the request, the refusing one among them. */
  | { readonly kind: "rate limit"; readonly rates: readonly MetRate[] }
  /** The limit of concurrent calls of a key, a team or a route. */
  | { readonly kind: "concurrent calls"; readonly of: LimitOwner }
  | { readonly kind: "budget"; readonly refusal: BudgetRefusal };

const BY_CODE: RefusedBy = { kind: "code" };

/** Refusal while the index is not current. */
export const STALE = unavailable("stale_index");

/** Refuses a request that cannot be decided now. */
export function unavailable(cause: string): Refused {
  return { granted: false, code: "unavailable", cause, key: undefined, by: BY_CODE };
}

/** Refuses a credential that opens nothing. */
export function unauthorized(cause: string, key?: KeyRecord): Refused {
  return { granted: false, code: "unauthorized", cause, key, by: BY_CODE };
}

/** Refuses a caller who may not do what it asks. */
export function forbidden(cause: string, key: KeyRecord | undefined, by: RefusedBy = BY_CODE): Refused {
  return { granted: false, code: "forbidden", cause, key, by };
}

/** Refuses a path and method that are no operation. */
export function noSuchOperation(key: KeyRecord | undefined): Refused {
  return { granted: false, code: "not_found", cause: "no_such_operation", key, by: BY_CODE };
}

/** Refuses a client whose address is not on a list. */
export function foreignSource(key: KeyRecord | undefined, list: SourceRefusal): Refused {
  const code = "address_not_allowed";
  const cause = list === "unknown" ? "address_unknown" : code;
  return { granted: false, code, cause, key, by: { kind: "source address", list } };
}

/** Refuses a token whose bearer is a member of no team that the address names. */
export function notAMember({ actor }: MemberToken): Refused {
  return forbidden("no_member", undefined, { kind: "membership", actor });
}

/** Refuses a token for which the address names no team, or not one alone. */
export function noSingleTeam(cause: string, { actor }: MemberToken): Refused {
  return { granted: false, code: "invalid_request", cause, key: undefined, by: { kind: "membership", actor } };
}

/** Refuses by the rate limit that refuses for the longest; undefined if all of them admit the request. */
export function rateLimited(key: KeyRecord, rates: readonly MetRate[]): Refused | undefined {
  const refusing = refusingRate(rates);
  if (refusing === undefined) return undefined;
  const kind = refusing.limit.unit === undefined ? "rate_limited" : "token_limited";
  const cause = causeOf(kind, refusing.of);
  return { granted: false, code: "rate_limited", cause, key, by: { kind: "rate limit", rates } };
}

/** Refuses a key that may have no more calls under way. */
export function tooManyCalls(key: KeyRecord, of: LimitOwner): Refused {
  const cause = causeOf("too_many_calls", of);
  return { granted: false, code: "rate_limited", cause, key, by: { kind: "concurrent calls", of } };
}

const BUDGET_REFUSALS = {
  exhausted: ["budget_exceeded", "budget_exceeded"],
  away: ["unavailable", "budget_unknown"],
  busy: ["unavailable", "budget_unknown"],
  crowded: ["rate_limited", "budget_crowded"],
  unpriced: ["forbidden", "budget_unpriced"],
} as const satisfies Record<BudgetRefusal["kind"], readonly [Refused["code"], string]>;

/** Refuses by a budget that does not suffice, or of which that is not known. */
export function overBudget(key: KeyRecord, refusal: BudgetRefusal): Refused {
  const [code, cause] = BUDGET_REFUSALS[refusal.kind];
  return { granted: false, code, cause: causeOf(cause, refusal.budget.of), key, by: { kind: "budget", refusal } };
}

/** Returns the cause with its owner: `team_rate_limited`, `policy_budget_exceeded`; a key's own has no prefix. */
function causeOf(ofKey: string, of: LimitOwner | OwnedBudget["of"]): string {
  return of === "key" ? ofKey : `${of}_${ofKey}`;
}
