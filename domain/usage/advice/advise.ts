/** Advice on what would have been enough for a key, by its use (docs/decisions/advice.md). Pure: it changes nothing. */
import { INTROSPECTION } from "../../access/caller-network.ts";
import { REQUEST_SCOPES } from "../../access/request-scope.ts";
import { defined } from "../../defined.ts";
import { DAY_MS } from "../../duration.ts";
import { rfc3339 } from "../../rfc3339.ts";
import { adviseGateway } from "./advise-gateway.ts";
import { adviseLibraries } from "./advise-libraries.ts";
import { adviseLimits } from "./advise-limits.ts";
import { adviseNetworks } from "./advise-networks.ts";
import { adviseScopes } from "./advise-scopes.ts";
import { type AdvicePoint, type KeyUse, recentNetworks, requestsWithin } from "./key-use.ts";

/** Days of a key's use that advice looks at. */
export const ADVICE_DAYS = 30;

export type Advice = {
  /** True if no request was permitted in all of the time. */
  readonly isUnused: boolean;
  /** Reason for which nothing is advised; null if something may be. */
  readonly lacks: string | null;
  readonly points: readonly AdvicePoint[];
};

/** Advises what would have been enough. If figures are missing, nothing is narrowed, and the advice says so. */
export function advise(use: KeyUse): Advice {
  const lacks = lackOf(use);
  const requests = requestsWithin(use, REQUEST_SCOPES);
  const isUnused =
    lacks === null &&
    requests === 0 &&
    use.answers.length === 0 &&
    (use.lastUsedAt === null || use.lastUsedAt < use.from);
  if (lacks !== null || isUnused) return { isUnused, lacks, points: [] };
  if (requests === 0) return { isUnused, lacks: "No request of it was counted, and it was used.", points: [] };
  const scopes = adviseScopes(use);
  const points = [
    scopes,
    ...adviseGateway(use),
    ...adviseLibraries(use, scopes),
    adviseNetworks(use),
    adviseLimits(use),
  ];
  return { isUnused, lacks, points };
}

/** Returns the spec that would have been enough, in the order of its fields. */
export function advisedSpec(spec: object, { points }: Pick<Advice, "points">): object {
  return defined({ ...spec, ...Object.assign({}, ...points.map(({ change }) => change)) });
}

function lackOf(use: KeyUse): string | null {
  const { madeAt, countedSince, from, to } = use;
  const whole = `${Math.round((to - from) / DAY_MS)} days are looked at`;
  if (madeAt > from) return `The key was made at ${rfc3339(madeAt)}, and ${whole}: nothing is narrowed yet.`;
  if (countedSince > from) {
    return `Uses are counted completely since ${rfc3339(countedSince)} alone, and ${whole}: nothing is narrowed.`;
  }
  const asked = recentNetworks(use).find(({ network }) => network === INTROSPECTION);
  return asked === undefined
    ? null
    : `A service asked about it by introspection, last on ${asked.lastSeenOn}, and what it needed there is not counted: nothing is narrowed.`;
}
