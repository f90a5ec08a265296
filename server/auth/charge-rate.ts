import type { OwnedLimits } from "../../domain/access/declared-limits.ts";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import {
  type DeclaredRate,
  type LimitOwner,
  type RateVerdict,
  rateState,
  type TokenLimit,
  unpaidOf,
} from "../../domain/access/rate-limit.ts";
import { reservedUnits, tokenRate, tokensId } from "../../domain/access/token-limit.ts";
import type { Clock } from "../../runtime/clock.ts";
import { CALL_LIMITS } from "../calls/open-streams.ts";
import type { OwnedRate } from "../key-index/index-tables.ts";
import type { KeyIndexView } from "../key-index/key-index-view.ts";
import { type DrawnLimit, PERIOD_MS } from "../limits/held-limit.ts";
import type { InstallationLimits } from "../limits/installation-limits.ts";

/** Parts that count the requests of keys, of teams and of routes. */
export type RateDeps = {
  readonly index: Pick<KeyIndexView, "chargeRates" | "chargeUsed" | "judgeRates" | "refundRate">;
  readonly clock: Pick<Clock, "monotonic">;
  /** Null if there is one replica alone, whose own count is the installation's. */
  readonly installationLimits: Pick<InstallationLimits, "charge" | "refund" | "rest" | "settle"> | null;
};

/** A rate limit that applies to a request. */
type AppliedRate = OwnedRate & {
  /** Team of the calls: draws from the cells that all replicas share are queued by team. */
  readonly teamId: string;
  readonly of: LimitOwner;
  readonly limit: DeclaredRate;
  /** Requests that may wait for the cell at once, if all replicas share one: more are refused. */
  readonly mostWaiting: number;
};

/** A rate limit that a request was judged by, and its verdict. */
export type MetRate = OwnedRate & {
  readonly teamId: string;
  readonly of: LimitOwner;
  readonly limit: DeclaredRate;
  readonly verdict: RateVerdict;
  /** Time of the verdict: nanoseconds on the monotonic clock. */
  readonly at: number;
};

/** Verdicts of the limits, at once or when the cells have answered. */
type MetRates = readonly MetRate[] | Promise<readonly MetRate[]>;

/** Nanoseconds in a millisecond. */
const NANOSECONDS = 1e6;
/** Requests of a team or a route that may wait, if it declares no bound of calls under way. */
const MANY_WAITING = 4 * CALL_LIMITS.callsPerKey;
const NO_RATES: readonly MetRate[] = [];
const NO_APPLIED: readonly AppliedRate[] = [];

/**
 * Judges a request by the rate limits of its key and of its team, and charges it to them if all admit it: a request
 * that any limit refuses costs the others nothing. A limit of the installation may have to be asked for.
 *
 * @param route the limits of the route that the request names, if that is known already
 * @param tokens how many the request is expected to use, if that is known already and counts
 * @returns the verdict of each limit, up to the limit that refuses; empty if none is declared
 */
export function chargeRates(deps: RateDeps, key: KeyRecord, route?: OwnedLimits, tokens?: number): MetRates {
  const { rateLimit, teamLimits } = key;
  if (rateLimit === null && teamLimits === null && route === undefined && tokens === undefined) return NO_RATES;
  const { teamId } = key;
  const mostWaiting = key.concurrent ?? CALL_LIMITS.callsPerKey;
  const ofKey: AppliedRate[] =
    rateLimit === null ? [] : [{ of: "key", owner: key, teamId, limit: rateLimit, mostWaiting }];
  const ofTeam = teamLimits === null ? [] : ratesOf("team", teamId, { id: teamId, ...teamLimits });
  return chargeAll(deps, ofKey.concat(ofTeam, ratesOfBody(key, route, tokens)));
}

/**
 * Judges a request by the limits that depend on its body, and charges it to them, once its key and its team have been
 * charged for it.
 */
export function chargeBody(deps: RateDeps, key: KeyRecord, route?: OwnedLimits, tokens?: number): MetRates {
  return chargeAll(deps, ratesOfBody(key, route, tokens));
}

/** True if a call of a key counts by the tokens that it uses. */
export function countsTokens({ tokenLimit, teamLimits }: KeyRecord, route?: OwnedLimits): boolean {
  return tokenLimit !== null || teamLimits?.tokens !== undefined || route?.tokens !== undefined;
}

/**
 * Takes back what was charged for a request that another limit refuses after all, as far as time has not paid for it;
 * from a limit of the installation, tokens at any time, and requests within the second that they are drawn for.
 *
 * @returns the limits with what is left of them then
 */
export function refundRates({ index, clock, installationLimits }: RateDeps, rates: readonly MetRate[]): MetRate[] {
  const now = clock.monotonic() * NANOSECONDS;
  return rates.map((rate) => {
    const { limit, amount, verdict, at } = rate;
    if (installationLimits !== null && limit.scope === "Installation") {
      return takeBackDrawn(installationLimits, rate, now - at < PERIOD_MS * NANOSECONDS);
    }
    const unpaid = unpaidOf(limit, verdict, now, amount);
    index.refundRate(rate, unpaid, at);
    return { ...rate, verdict: rateState(limit, verdict.paidAt - unpaid, now) };
  });
}

/**
 * Takes back what was drawn from a limit of the installation. What a thread has admitted by itself, while the database
 * was away, was given by no cell, and is not given back.
 */
function takeBackDrawn(installationLimits: DrawnDeps["installationLimits"], rate: MetRate, isInTime = true): MetRate {
  const drawn = drawnFrom(rate);
  if (rate.verdict.paidAt === 0) {
    if (isInTime) installationLimits.refund(drawn.limitId, rate.amount);
    // As with those that a call has not used (settleTokens).
    else if (rate.limit.unit !== undefined) installationLimits.settle(drawn, -(rate.amount ?? 1));
  }
  return { ...rate, verdict: installationLimits.rest(drawn) };
}

function ratesOf(of: LimitOwner, teamId: string, { id: owner, rate: limit, concurrent }: OwnedLimits): AppliedRate[] {
  return limit === null ? [] : [{ of, owner, teamId, limit, mostWaiting: concurrent ?? MANY_WAITING }];
}

function ratesOfBody(key: KeyRecord, route: OwnedLimits | undefined, tokens: number | undefined): AppliedRate[] {
  const { teamId } = key;
  const rates = route === undefined ? [] : ratesOf("route", teamId, route);
  if (tokens === undefined) return rates;
  const ofTokens = (
    of: LimitOwner,
    id: string,
    declared: TokenLimit | null | undefined,
    mostWaiting: number,
  ): readonly AppliedRate[] => {
    if (declared == null) return NO_APPLIED;
    const limit = tokenRate(declared);
    return [{ of, owner: tokensId(id), teamId, limit, amount: reservedUnits(limit, tokens), mostWaiting }];
  };
  return rates.concat(
    ofTokens("key", key.keyId, key.tokenLimit, key.concurrent ?? CALL_LIMITS.callsPerKey),
    ofTokens("team", key.teamId, key.teamLimits?.tokens, key.teamLimits?.concurrent ?? MANY_WAITING),
    ofTokens("route", route?.id ?? "", route?.tokens, route?.concurrent ?? MANY_WAITING),
  );
}

function chargeAll(deps: RateDeps, rates: readonly AppliedRate[]): MetRates {
  if (rates.length === 0) return NO_RATES;
  const { index, clock, installationLimits } = deps;
  const drawn = installationLimits === null ? [] : rates.filter(({ limit }) => limit.scope === "Installation");
  if (installationLimits === null || drawn.length === 0) {
    const now = clock.monotonic() * NANOSECONDS;
    return met(rates, index.chargeRates(rates, now), now);
  }
  return chargeDrawn(
    { index, clock, installationLimits },
    rates.filter((rate) => !drawn.includes(rate)),
    drawn,
  );
}

/** Returns, of the limits that refuse a request, the limit that does so for the longest; undefined if all admit it. */
export function refusingRate(rates: readonly MetRate[]): MetRate | undefined {
  let refusing: MetRate | undefined;
  for (const rate of rates) {
    const { admitted, retryAfter } = rate.verdict;
    if (!admitted && (refusing === undefined || retryAfter > refusing.verdict.retryAfter)) refusing = rate;
  }
  return refusing;
}

type DrawnDeps = RateDeps & { readonly installationLimits: NonNullable<RateDeps["installationLimits"]> };

/**
 * Judges a request by what is counted here first, so that a request that is refused here asks no cell. Charges that
 * last, since a charge that is taken back may have refused others meanwhile.
 */
function chargeDrawn(
  { index, clock, installationLimits }: DrawnDeps,
  here: readonly AppliedRate[],
  drawn: readonly AppliedRate[],
): MetRates {
  const now = () => clock.monotonic() * NANOSECONDS;
  const metNow = (how: "chargeRates" | "judgeRates"): MetRate[] => met(here, index[how](here, now()), now());
  const takeBack = (rates: readonly MetRate[]): MetRate[] =>
    rates.map((rate) => takeBackDrawn(installationLimits, rate));
  const chargeFrom = (nth: number, charged: readonly MetRate[]): MetRates => {
    const rate = drawn[nth];
    if (rate === undefined) {
      const local = metNow("chargeRates");
      return inOrder(refusingRate(local) === undefined ? [...local, ...charged] : [...local, ...takeBack(charged)]);
    }
    const { mostWaiting, ...charging } = rate;
    const goOn = (verdict: RateVerdict): MetRates => {
      const one = { ...charging, verdict, at: now() };
      if (verdict.admitted) return chargeFrom(nth + 1, [...charged, one]);
      return inOrder([...judged, ...takeBack(charged), one]);
    };
    const verdict = installationLimits.charge(drawnFrom(rate), mostWaiting, rate.amount);
    return verdict instanceof Promise ? verdict.then(goOn) : goOn(verdict);
  };
  const judged = metNow("judgeRates");
  return refusingRate(judged) === undefined ? chargeFrom(0, []) : judged;
}

function met(rates: readonly AppliedRate[], verdicts: readonly RateVerdict[], at: number): MetRate[] {
  return rates.map(({ of, owner, teamId, limit, amount }, i) => {
    const verdict = verdicts[i];
    if (verdict === undefined) throw new Error("a rate limit was not judged");
    return { of, owner, teamId, limit, amount, verdict, at };
  });
}

/** Sorts limits, wherever each is counted: the key's, then the team's, then the route's. */
function inOrder(rates: readonly MetRate[]): readonly MetRate[] {
  return rates.toSorted((a, b) => OWNERS.indexOf(a.of) - OWNERS.indexOf(b.of));
}
const OWNERS: readonly LimitOwner[] = ["key", "team", "route"];

/** Returns a limit as it is drawn from the cell that all replicas share. */
export function drawnFrom({ owner, teamId, limit }: Pick<MetRate, "owner" | "teamId" | "limit">): DrawnLimit {
  return { limitId: typeof owner === "string" ? owner : owner.keyId, teamId, limit };
}
