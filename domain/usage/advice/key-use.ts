/** A key's use within a period, and the points of advice on it. */
import type { CallerNetwork } from "../../access/caller-network.ts";
import type { RequestScope } from "../../access/request-scope.ts";
import type { UsedLibrary } from "../../access/used-library.ts";
import type { Spec } from "../../kinds/kinds.ts";
import { rfc3339 } from "../../rfc3339.ts";

/** Spec of a PlatformKey, or as much of it as is known. */
export type AdvisedSpec = Partial<Spec<"PlatformKey">>;

/** Model answers of one gateway, route and model. */
export type AnswersUsed = {
  /** Name of the gateway; null if it no longer exists. */
  readonly gateway: { readonly namespace: string; readonly name: string } | null;
  readonly gatewayId: string;
  /**
   * Name of the route in the calls; null if the route no longer exists, or if another has its id, undefined if calls
   * named no route.
   */
  readonly route: string | null | undefined;
  /** Name of the model as the answers spell it: a caller's or a provider's text. */
  readonly model: string;
  readonly calls: number;
};

/** Peaks of a figure. Five minutes are known of the last eight days only. */
export type Peak = {
  readonly fiveMinutes: number;
  /** Busiest hour of those eight days, and of the whole period. */
  readonly recentHour: number;
  readonly hour: number;
};

/** Use of a key within a period. Times are milliseconds since the epoch. */
export type KeyUse = {
  readonly namespace: string;
  readonly spec: AdvisedSpec;
  readonly madeAt: number;
  /** Beginning of the period, and its end, which is not part of it. */
  readonly from: number;
  readonly to: number;
  /** Time since which the installation's counts are complete. */
  readonly countedSince: number;
  /** Time of the last use at all; null for never. */
  readonly lastUsedAt: number | null;
  readonly requests: ReadonlyMap<RequestScope, number>;
  readonly answers: readonly AnswersUsed[];
  /** Number of answers that reported no tokens, or not all. */
  readonly answersWithoutTokens: number;
  readonly networks: readonly CallerNetwork[];
  readonly networksSince: number;
  readonly libraries: readonly UsedLibrary[];
  readonly librariesSince: number;
  /** Number of libraries that the key may reach. */
  readonly reachableLibraries: number;
  readonly peakRequests: Peak;
  readonly peakTokens: Peak;
};

/** Advice on one field of the spec. */
export type AdvicePoint = {
  readonly field: keyof AdvisedSpec;
  /** New values of fields of the spec, undefined for a field to remove; empty if everything stays. */
  readonly change: { readonly [F in keyof AdvisedSpec]?: AdvisedSpec[F] | undefined };
  /** Reasons in one or several sentences. Names in them are unchecked, and may be any text. */
  readonly why: string;
};

/** Returns the networks that the key was called from within the period. */
export function recentNetworks({ networks, from }: Pick<KeyUse, "networks" | "from">): readonly CallerNetwork[] {
  const since = rfc3339(from).slice(0, 10);
  return networks.filter(({ lastSeenOn }) => lastSeenOn >= since);
}

/** Returns the number of requests that were counted under some scopes. */
export function requestsWithin({ requests }: Pick<KeyUse, "requests">, scopes: readonly RequestScope[]): number {
  return scopes.reduce((sum, scope) => sum + (requests.get(scope) ?? 0), 0);
}
