/** What is known of a key's use within a piece of time, and what advice of it says. */
import type { CallerNetwork } from "../../access/caller-network.ts";
import type { RequestScope } from "../../access/request-scope.ts";
import type { UsedLibrary } from "../../access/used-library.ts";
import type { Spec } from "../../kinds/kinds.ts";

/** What of a PlatformKey advice is about. */
export type AdvisedSpec = Partial<
  Pick<
    Spec<"PlatformKey">,
    | "preset"
    | "scopes"
    | "gatewayRef"
    | "allowedModels"
    | "libraryAccess"
    | "mcpDefaultLibraryRef"
    | "subjectAccess"
    | "allowedCIDRs"
    | "rateLimit"
  >
>;

/** Answers of models by one gateway, route and model. */
export type AnswersUsed = {
  /** Null for one that is gone. */
  readonly gateway: { readonly namespace: string; readonly name: string } | null;
  readonly gatewayId: string;
  /** What calls named as their model for the route; null for one that is gone, undefined where no route was named. */
  readonly route: string | null | undefined;
  /** As the answers name it: a caller's or a provider's text. */
  readonly model: string;
  readonly calls: number;
};

/** The most of a figure at once. Five minutes are known of the last eight days alone. */
export type Peak = {
  readonly fiveMinutes: number;
  /** The busiest hour of those eight days, and that of all. */
  readonly recentHour: number;
  readonly hour: number;
};

/** Times are milliseconds since the epoch. */
export type KeyUse = {
  readonly namespace: string;
  readonly spec: AdvisedSpec;
  readonly madeAt: number;
  /** What was used from then on, and before then. */
  readonly from: number;
  readonly to: number;
  /** Since when the installation's counts are complete. */
  readonly countedSince: number;
  /** When it was last used at all; null for never. */
  readonly lastUsedAt: number | null;
  readonly requests: ReadonlyMap<RequestScope, number>;
  readonly answers: readonly AnswersUsed[];
  /** Answers that reported no tokens, or not all. */
  readonly answersWithoutTokens: number;
  readonly networks: readonly CallerNetwork[];
  readonly networksSince: number;
  readonly libraries: readonly UsedLibrary[];
  readonly librariesSince: number;
  /** How many libraries the key may reach. */
  readonly reachableLibraries: number;
  readonly peakRequests: Peak;
  readonly peakTokens: Peak;
};

/** What would have been enough in the place of a field of the spec. */
export type AdvicePoint = {
  readonly field: "scopes" | "gatewayRef" | "allowedModels" | "libraryAccess" | "allowedCIDRs" | "rateLimit";
  /** The fields of the spec that become something else, undefined for one that goes; none where all stays as it is. */
  readonly change: { readonly [F in keyof AdvisedSpec]?: AdvisedSpec[F] | undefined };
  /** One or several sentences. Names in it are as they came, and may be anything. */
  readonly why: string;
};

/** The sum of what a use's requests are counted by. */
export function requestsWithin({ requests }: Pick<KeyUse, "requests">, scopes: readonly RequestScope[]): number {
  return scopes.reduce((sum, scope) => sum + (requests.get(scope) ?? 0), 0);
}
