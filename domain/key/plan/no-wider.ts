import { isDeepStrictEqual } from "node:util";
import type { LimitScope } from "../../access/rate-limit.ts";
import { isNetworkWithin } from "../../access/source-addresses.ts";
import { areBudgetsKept } from "../../budget/budget.ts";
import { UNDECLARED_CONCURRENT } from "../policies/judge-key.ts";
import type { KeyPolicy } from "../stored/stored-key.ts";

type Check = (after: KeyPolicy, before: KeyPolicy) => boolean;

const CHECKS: readonly Check[] = [
  (after, before) => isWithin(after.scopes, before.scopes),
  (after, before) =>
    before.boundGatewayId === null || after.boundGatewayId === before.boundGatewayId || after.boundGatewayId === "",
  (after, before) => isWithin(after.libraryIds, before.libraryIds),
  (after, before) => isWithin(after.allowedModels, before.allowedModels),
  (after, before) => isAtMost(after.expiresAt, before.expiresAt),
  (after, before) =>
    isAtMost(after.rateLimit?.requestsPerMinute, before.rateLimit?.requestsPerMinute) &&
    isAtMost(after.rateLimit?.burst, before.rateLimit?.burst) &&
    isCountedAsWidely(after.rateLimit?.scope, before.rateLimit?.scope),
  (after, before) => (after.concurrent ?? UNDECLARED_CONCURRENT) <= (before.concurrent ?? UNDECLARED_CONCURRENT),
  (after, before) =>
    isAtMost(after.tokenLimit?.tokensPerMinute, before.tokenLimit?.tokensPerMinute) &&
    isCountedAsWidely(after.tokenLimit?.scope, before.tokenLimit?.scope),
  (after, before) => areBudgetsKept(after.budgets, before.budgets),
  (after, before) => isDeepStrictEqual(after.subject, before.subject),
  ({ allowedCIDRs: after }, { allowedCIDRs: before }) =>
    before === null || (after?.every((network) => isNetworkWithin(network, before)) ?? false),
];

/** Whether a key may do no more by one policy than by another; whether it is suspended is left aside. */
export function isNoWider(after: KeyPolicy, before: KeyPolicy): boolean {
  return CHECKS.every((isKept) => isKept(after, before));
}

/** Null allows anything. */
function isWithin(after: readonly string[] | null, before: readonly string[] | null): boolean {
  return before === null || (after?.every((one) => before.includes(one)) ?? false);
}

/** Without a number there is no bound. */
function isAtMost(after: number | null | undefined, before: number | null | undefined): boolean {
  return (after ?? Number.POSITIVE_INFINITY) <= (before ?? Number.POSITIVE_INFINITY);
}

/** A limit of each replica lets through more than one of them all together. */
function isCountedAsWidely(after: LimitScope | undefined, before: LimitScope | undefined): boolean {
  return before !== "Installation" || after === before;
}
