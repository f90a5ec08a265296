import { authorize } from "../../domain/access/authorize.ts";
import { type GatewayRecord, type KeyRecord, UNSTORED_VERSION } from "../../domain/access/key-record.ts";
import type { MemberToken } from "../../domain/access/membership.ts";
import { OPERATIONS, type OperationName } from "../../domain/access/operations.ts";
import type { LimitOwner } from "../../domain/access/rate-limit.ts";
import type { Product } from "../../domain/access/scopes.ts";
import type { Client, SourceRefusal } from "../../domain/access/source-addresses.ts";
import type { OwnedBudget } from "../../domain/budget/budget.ts";
import { keyDigest, keyShape } from "../../domain/key/secret/key-format.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { BudgetRefusal } from "../budgets/budget-grants.ts";
import type { OpenStreams } from "../calls/calls.ts";
import type { ServerConfig } from "../context/config.ts";
import type { KeyIndexView } from "../key-index/key-index-view.ts";
import { chargeRates, type MetRate, type RateDeps, refusingRate } from "./charge-rate.ts";
import { type Carrier, extractCredential } from "./credential.ts";
import type { AuthMetrics } from "./metrics.ts";

/** What the matched route needs a key to be allowed. */
export type RouteAccess = {
  readonly product: Product;
  /** Undefined where the path and method are no operation: 404, behind the key's own checks. */
  readonly operation: OperationName | undefined;
  /** Of a gateway's route: the public id that the router matched. */
  readonly publicId: string | undefined;
};

/** What a key is used for. */
export type Asked = Pick<RouteAccess, "product" | "operation">;

/** A request that may go on, and as whom. */
export type Granted = {
  readonly granted: true;
  readonly key: KeyRecord;
  /** The gateway that the path names; null outside of the gateway. */
  readonly gateway: GatewayRecord | null;
  readonly operation: OperationName;
  readonly carrier: Carrier;
  /** Who made it. */
  readonly client: Client;
  /** The rate limits that it was charged to, and what is left of them. */
  readonly rates: readonly MetRate[];
};

/** A request that is refused. `cause` is for counting; the caller is shown the code's one answer. */
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
  readonly cause: string;
  /** The key that was found, where one was. */
  readonly key: KeyRecord | undefined;
  /** Whose list the client's address is not on, where that is `address_not_allowed`. */
  readonly source?: SourceRefusal;
  /** What the key was used for, where that is `forbidden`. */
  readonly asked?: Asked;
  /** The actor of a valid token that resolves to no single member; a key's holder or a member is in `key`. */
  readonly principal?: string;
  /** The rate limits that it was judged by, where that is why it is `rate_limited`. */
  readonly rates?: readonly MetRate[];
  /** Whose limit of concurrent calls is reached, where that is why. */
  readonly full?: LimitOwner;
  /** Which budget has no room, where that is why. */
  readonly budget?: BudgetRefusal;
};

/** What a decision reads. */
export type DecisionDeps = RateDeps & {
  readonly index: KeyIndexView;
  readonly clock: Clock;
  readonly metrics: Pick<AuthMetrics, "countLookUp">;
  readonly streams: Pick<OpenStreams, "fullOf">;
  readonly config: Pick<ServerConfig, "vendorHeader" | "production" | "placeholders">;
};

export const STALE: Refused = { granted: false, code: "unavailable", cause: "stale_index", key: undefined };

/**
 * Decides a request from its head alone (spec §2.8): a current index, then the credential's carrier, its shape, its
 * digest, its record, what the record may do, and last its rate limit and its
 * team's, which a refusal costs nothing of. Nothing is
 * logged. Nothing waits, and the database is not asked, but now and then for a limit of the installation.
 *
 * @param rawHeaders names and values in turn, as Node's parser gives them
 * @param url the request's target as it was sent: only its query is read here
 * @param client who makes it
 */
export function decide(
  deps: DecisionDeps,
  rawHeaders: readonly string[],
  url: string,
  route: RouteAccess,
  client: Client,
): Granted | Refused | Promise<Granted | Refused> {
  const { index } = deps;
  if (!index.isCurrent()) return STALE;
  const presented = extractCredential(rawHeaders, url, deps.config.vendorHeader);
  if ("bad" in presented) return unauthorized(presented.bad);
  const shape = keyShape(presented.key);
  if (shape === "malformed") return unauthorized("malformed");
  if (shape === "imported-format" && !index.acceptsImportedFormat()) return unauthorized("malformed");
  if (shape === "short" && !hasPlaceholders(deps)) return unauthorized("malformed");
  deps.metrics.countLookUp();
  const found = index.findKey(keyDigest(presented.key));
  // A hash does not show how long its secret is: one that was imported by it may be short enough to guess.
  const key = shape === "short" && found?.version !== UNSTORED_VERSION ? undefined : found;
  const judged = decideForKey(deps, key, route, client);
  if ("granted" in judged) return judged;
  const { gateway, operation } = judged;
  const full = deps.streams.fullOf(judged.key);
  if (full !== undefined) return tooManyCalls(judged.key, full);
  const granted: Granted = {
    granted: true,
    key: judged.key,
    gateway,
    operation,
    carrier: presented.carrier,
    client,
    rates: [],
  };
  return chargeGranted(deps, granted);
}

/** The last step of a decision: charges a request that may go on to the limits of its key and its team. */
export function chargeGranted(
  deps: RateDeps & Parameters<typeof decideAgain>[0],
  granted: Granted,
): Granted | Refused | Promise<Granted | Refused> {
  const rates = chargeRates(deps, granted.key);
  if (!(rates instanceof Promise)) return rates.length === 0 ? granted : withRates(granted, rates);
  // The key may have been revoked while the database was asked.
  return rates.then((waited) => {
    const present = withRates(granted, waited);
    return present.granted ? decideAgain(deps, present) : present;
  });
}

function withRates(granted: Granted, rates: readonly MetRate[]): Granted | Refused {
  return rateLimited(granted.key, rates) ?? { ...granted, rates };
}

/** The refusal by the rate limit that refuses for the longest; undefined where all of them admit the request. */
export function rateLimited(key: KeyRecord, rates: readonly MetRate[]): Refused | undefined {
  const refusing = refusingRate(rates);
  if (refusing === undefined) return undefined;
  const kind = refusing.limit.unit === undefined ? "rate_limited" : "token_limited";
  return { granted: false, code: "rate_limited", cause: causeOf(kind, refusing.of), key, rates };
}

/** The refusal of a key that may have no more calls under way. */
export function tooManyCalls(key: KeyRecord, full: LimitOwner): Refused {
  return { granted: false, code: "rate_limited", cause: causeOf("too_many_calls", full), key, full };
}

const BUDGET_REFUSALS = {
  exhausted: ["budget_exceeded", "budget_exceeded"],
  away: ["unavailable", "budget_unknown"],
  busy: ["unavailable", "budget_unknown"],
  crowded: ["rate_limited", "budget_crowded"],
  unpriced: ["forbidden", "budget_unpriced"],
} as const satisfies Record<BudgetRefusal["kind"], readonly [Refused["code"], string]>;

/** The refusal by a budget that has no room, or of which it is not known. */
export function overBudget(key: KeyRecord, budget: BudgetRefusal): Refused {
  const [code, cause] = BUDGET_REFUSALS[budget.kind];
  return { granted: false, code, cause: causeOf(cause, budget.budget.of), key, budget };
}

/** As refusals are counted: `team_rate_limited` of a team's limit, `policy_budget_exceeded` of a budget that teams share. */
function causeOf(ofKey: string, of: LimitOwner | OwnedBudget["of"]): string {
  return of === "key" ? ofKey : `${of}_${ofKey}`;
}

/**
 * Decides a request again, right before it takes effect, after whatever was waited for: by what its key's version, the
 * gateway and the index are now. The rate limit was charged at the door, and is not again.
 *
 * @param granted what is given back where neither the key nor the gateway has changed
 * @param operation what is about to be done, where only the body says it
 */
export function decideAgain(
  deps: Pick<DecisionDeps, "index" | "clock">,
  granted: Granted,
  operation: OperationName = granted.operation,
): Granted | Refused {
  const { index } = deps;
  if (!index.isCurrent()) return STALE;
  const { product } = OPERATIONS[operation];
  const present = index.findPresent(granted.key);
  const { membership } = granted.key;
  if (present === undefined && membership !== undefined) return notAMember(membership.token);
  const route = { product, operation, publicId: granted.gateway?.publicId };
  const judged = decideForKey(deps, present, route, granted.client);
  if ("granted" in judged) return judged;
  const { key, gateway } = judged;
  return key === granted.key && gateway === granted.gateway ? granted : { ...granted, key, gateway };
}

/**
 * Decides what a key may do to the memory by its record in the database.
 *
 * @param now milliseconds since the epoch, by the database
 * @param client who asked for it
 */
export function decideStored(
  key: KeyRecord | undefined,
  operation: OperationName,
  now: number,
  client: Client,
): Refused | undefined {
  const asked = { product: "memory", operation } as const;
  const denial = authorize(key, asked, now, client);
  return denial && refused(denial, key, asked);
}

/** The refusal of a token whose bearer is a member of no team that is meant. */
export function notAMember({ actor: principal }: MemberToken): Refused {
  return { granted: false, code: "forbidden", cause: "no_member", key: undefined, principal };
}

type Judged = Pick<Granted, "key" | "gateway" | "operation">;

/**
 * What every decision has in common: a record, and the gateway that the path names, as they are at this moment.
 *
 * @param client null for the server itself
 */
export function decideForKey(
  { index, clock }: { readonly index: KeyIndexView; readonly clock: Pick<Clock, "now"> },
  key: KeyRecord | undefined,
  route: RouteAccess,
  client: Client | null,
): Judged | Refused {
  const gateway = route.publicId === undefined ? undefined : servingGateway(index, route.publicId);
  const { product, operation } = route;
  const denial = authorize(key, { product, operation, gateway }, clock.now(), client);
  if (denial !== undefined) return refused(denial, key, route);
  if (key === undefined || operation === undefined) return unauthorized("unknown");
  return { key, gateway: gateway ?? null, operation };
}

function hasPlaceholders({ config: { production, placeholders } }: DecisionDeps): boolean {
  return !production && placeholders.length > 0;
}

/** A gateway whose namespace its team has lost is to everybody as if it were not there. */
function servingGateway(index: KeyIndexView, publicId: string): GatewayRecord | undefined {
  const gateway = index.findGateway(publicId);
  return gateway?.teamHoldsNamespace ? gateway : undefined;
}

export function unauthorized(cause: string): Refused {
  return { granted: false, code: "unauthorized", cause, key: undefined };
}

function refused(denial: NonNullable<ReturnType<typeof authorize>>, key: KeyRecord | undefined, asked: Asked): Refused {
  switch (denial.code) {
    case "unauthorized":
      return { granted: false, code: "unauthorized", cause: denial.cause, key };
    case "address_not_allowed": {
      const { code, by: source } = denial;
      return { granted: false, code, cause: source === "unknown" ? "address_unknown" : code, key, source };
    }
    case "forbidden":
      return { granted: false, code: "forbidden", cause: denial.reason, key, asked };
    case "not_found":
      return { granted: false, code: "not_found", cause: "no_such_operation", key };
  }
}
