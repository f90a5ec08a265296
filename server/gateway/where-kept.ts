import type { OperationRow } from "../../domain/access/gateway-operations.ts";
import type { RouteTarget } from "../../domain/access/route-weights.ts";
import type { Problem } from "../http/problems/problem.ts";
import type { KeptCall } from "./kept/kept-call.ts";
import type { Resolved, UpstreamCandidate } from "./resolve.ts";

/**
 * Returns where a call goes that may name what upstreams keep, or have them keep something. Such an object is found again
 * by its origin alone. So of equals at one origin with several accounts the first is asked, by calls that have something
 * kept there and by those that name it.
 */
export function reachKept(resolved: Resolved, kept: KeptCall, row: OperationRow): Resolved | Problem {
  if (resolved.equals === undefined) return kept.reach(resolved);
  const { candidates } = resolved;
  const equals = resolved.equals.flatMap((target) => candidates.find((one) => isOf(target, one)) ?? []);
  const [first = candidates[0], ...others] = [...equals, ...candidates.filter((one) => !equals.includes(one))];
  const declared: Resolved = { ...resolved, candidates: [first, ...others] };
  const reached = kept.reach(declared);
  // It is returned as it is for a call that names nothing.
  if (reached !== declared) return reached;
  const keeps = kept.keeping !== undefined || row.kept?.brought !== undefined;
  return keeps && shareOrigin(equals) ? declared : resolved;
}

function isOf({ upstream, upstreamModel }: RouteTarget, candidate: UpstreamCandidate): boolean {
  return candidate.upstream.name === upstream && candidate.model === upstreamModel;
}

/** True if two of the candidates are at one origin, each with its own credential. */
function shareOrigin(candidates: readonly UpstreamCandidate[]): boolean {
  const accounts = new Map<string, unknown>();
  return candidates.some(({ upstream: { baseUrl, credential } }) => {
    const { origin } = new URL(baseUrl);
    if (accounts.has(origin)) return accounts.get(origin) !== credential;
    accounts.set(origin, credential);
    return false;
  });
}
