/** Every field of a key that can change without a new secret, one row for each. */
import { isDeepStrictEqual } from "node:util";
import { declareRate, declareTokens, limitSpec } from "../../access/declared-limits.ts";
import { type LimitScope, UNDECLARED_CONCURRENT } from "../../access/rate-limit.ts";
import { isNetworkWithin } from "../../access/source-addresses.ts";
import { declareSubject, subjectText } from "../../access/subject.ts";
import { areBudgetsKept, budgetText, declareBudgets } from "../../budget/budget.ts";
import { defined } from "../../defined.ts";
import { rfc3339Millis } from "../../rfc3339.ts";
import { effectiveScopes } from "../declaration/effective.ts";
import { eachFact, factOf } from "../declaration/facts.ts";
import { allowList, asSet, isAmong, isAtMost, listText } from "./field-values.ts";
import type { PlainField, PlainFields, PolicyFields, ResolvedFields } from "./key-field.ts";

const FIELDS: PlainFields & ResolvedFields = {
  displayName: {
    ...{ path: "spec.displayName", label: "name", none: "" },
    declare: (spec, name) => spec.displayName ?? name,
    write: (displayName) => ({ displayName }),
    show: (displayName) => displayName,
    isNoWider: () => true,
  },
  scopes: {
    ...{ path: "spec.scopes", label: "scopes", none: [] },
    declare: effectiveScopes,
    write: (scopes) => ({ scopes: [...scopes] }),
    show: listText,
    isNoWider: (after, before) => after.every((one) => before.includes(one)),
    sorted: (scopes) => scopes.toSorted(),
  },
  boundGatewayId: {
    ...{ path: "spec.gatewayRef", label: "gateway", none: null },
    resolve: (_, { gatewayId }) => gatewayId,
    write: (id, { gateway }) => defined({ gatewayRef: id === null ? undefined : gateway(id) }),
    show: (id) => (id === "" ? "one that is not there" : (id ?? "any")),
    isNoWider: (after, before) => before === null || after === before || after === "",
  },
  allowedModels: allowList("allowedModels", "models", isAmong),
  libraryIds: {
    ...{ path: "spec.libraryAccess", label: "libraries", none: null },
    resolve: (_, { libraryIds }) => libraryIds,
    write: (ids, { library }) =>
      ids === null
        ? {}
        : { libraryAccess: { mode: "Restricted", libraryRefs: ids.flatMap((id) => library(id) ?? []) } },
    show: (ids) => (ids === null ? "all" : listText(ids)),
    isNoWider: (after, before) => before === null || (after?.every((one) => before.includes(one)) ?? false),
    sorted: asSet,
  },
  mcpDefaultLibraryId: {
    ...{ path: "spec.mcpDefaultLibraryRef", label: "default library", none: null },
    resolve: (_, { mcpDefaultLibraryId }) => mcpDefaultLibraryId,
    write: (id, { library }) => defined({ mcpDefaultLibraryRef: id === null ? undefined : library(id) }),
    show: (id) => id ?? "none",
    // The default is one of the libraries that the key may reach, which another field compares.
    isNoWider: () => true,
  },
  subject: {
    ...{ path: "spec.subjectAccess", label: "memory of", none: null },
    declare: ({ subjectAccess }) => declareSubject(subjectAccess),
    write: (subject) => (subject === null ? {} : { subjectAccess: subject }),
    show: (subject) => (subject === null ? "all" : subjectText(subject)),
    isNoWider: isDeepStrictEqual,
  },
  allowedCIDRs: allowList("allowedCIDRs", "networks", isNetworkWithin),
  suspended: {
    ...{ path: "spec.state", label: "state", none: false },
    resolve: ({ state }) => state === "Suspended",
    write: (isSuspended) => ({ state: isSuspended ? "Suspended" : "Active" }),
    show: (isSuspended) => (isSuspended ? "Suspended" : "Active"),
    // Suspension does not count as less or more.
    isNoWider: () => true,
  },
  expiresAt: {
    ...{ path: "spec.expiresAt", label: "expires", none: null },
    declare: ({ expiresAt }) => (expiresAt === undefined ? null : withinYears(Date.parse(expiresAt))),
    write: (at) => (at === null ? {} : { expiresAt: rfc3339Millis(at) }),
    show: (at) => (at === null ? "never" : rfc3339Millis(at)),
    isNoWider: isAtMost,
  },
  rateLimit: {
    ...{ path: "spec.rateLimit", label: "rate", none: null },
    declare: ({ rateLimit }) => declareRate(rateLimit),
    write: (rate) => defined({ rateLimit: limitSpec({ rate, concurrent: null }) }),
    show: (rate) =>
      rate === null
        ? "unlimited"
        : `${rate.requestsPerMinute}/min, burst ${rate.burst}, of each ${rate.scope.toLowerCase()}`,
    isNoWider: (after, before) =>
      isAtMost(after?.requestsPerMinute, before?.requestsPerMinute) &&
      isAtMost(after?.burst, before?.burst) &&
      isCountedAsWidely(after?.scope, before?.scope),
  },
  concurrent: {
    ...{ path: "spec.rateLimit.concurrent", label: "concurrent", none: null },
    declare: ({ rateLimit }) => rateLimit?.concurrent ?? null,
    write: (concurrent) => defined({ rateLimit: limitSpec({ rate: null, concurrent }) }),
    show: (concurrent) => (concurrent === null ? "default" : String(concurrent)),
    isNoWider: (after, before) => (after ?? UNDECLARED_CONCURRENT) <= (before ?? UNDECLARED_CONCURRENT),
  },
  tokenLimit: {
    ...{ path: "spec.rateLimit.tokensPerMinute", label: "tokens", none: null },
    declare: ({ rateLimit }) => declareTokens(rateLimit),
    write: (tokens) =>
      tokens === null ? {} : defined({ rateLimit: limitSpec({ rate: null, concurrent: null, tokens }) }),
    show: (tokens) =>
      tokens === null ? "unlimited" : `${tokens.tokensPerMinute}/min, of each ${tokens.scope.toLowerCase()}`,
    isNoWider: (after, before) =>
      isAtMost(after?.tokensPerMinute, before?.tokensPerMinute) && isCountedAsWidely(after?.scope, before?.scope),
  },
  budgets: {
    ...{ path: "spec.budgets", label: "budgets", none: null },
    declare: ({ budgets }) => declareBudgets(budgets),
    write: (budgets) => (budgets === null ? {} : { budgets: [...budgets] }),
    show: (budgets) => (budgets === null ? "none" : listText(budgets.map(budgetText))),
    isNoWider: areBudgetsKept,
    sorted: (budgets) => budgets?.toSorted((a, b) => (budgetText(a) < budgetText(b) ? -1 : 1)) ?? null,
  },
  ...eachFact(
    (name): PlainField<string | null> => ({
      ...{ path: `spec.${name}`, label: factOf(name).label.toLowerCase(), none: null },
      declare: (spec) => spec[name] ?? null,
      write: (text) => (text === null ? {} : { [name]: text }),
      show: (text) => text ?? "none",
      isNoWider: () => true,
    }),
  ),
};

export const PLAIN_FIELDS: PlainFields = FIELDS;
export const RESOLVED_FIELDS: ResolvedFields = FIELDS;
export const KEY_FIELDS: PolicyFields = FIELDS;

/** True if a limit is counted as widely as before: limits of each replica let through more than one of all together. */
function isCountedAsWidely(after: LimitScope | undefined, before: LimitScope | undefined): boolean {
  return before !== "Installation" || after === before;
}

/** Earliest and latest time that every engine stores, in milliseconds since the epoch: the years 1 to 9999. */
const [FIRST_TIME, LAST_TIME] = [Date.parse("0001-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59Z")];

/** Clamps an expiry that is out of range, and was declared before admission refused that, to the nearest valid time. */
function withinYears(time: number): number {
  return Math.min(Math.max(time, FIRST_TIME), LAST_TIME);
}
