import type { OperationRow } from "../../domain/access/gateway-operations.ts";
import type { GatewayRecord, OperationKind } from "../../domain/access/key-record.ts";
import { Problem } from "../http/problems/problem.ts";
import type { KeptCall } from "./kept/kept-call.ts";
import { placeOf } from "./kept/team-objects.ts";
import { MOVED, type Resolved, type UpstreamCandidate } from "./resolve.ts";

/** Kinds by which a gateway has objects kept at the first upstream of a format, which other calls name. */
const KEPT_AT_FIRST: readonly OperationKind[] = ["files", "vectorStores"];

/**
 * Returns the same resolution without the upstreams that a gateway got after the call's body was read for the others, or
 * the problem to answer if there is none else.
 */
export function whereRead(resolved: Resolved, { isReadFor }: KeptCall): Resolved | Problem {
  if (resolved.candidates.every(isReadFor)) return resolved;
  const [first, ...others] = resolved.candidates.filter(isReadFor);
  if (first === undefined) return MOVED;
  const { declared } = resolved;
  return { ...resolved, candidates: [first, ...others], ...(declared && { declared: declared.filter(isReadFor) }) };
}

/**
 * Finds the upstreams of a call that may name objects which upstreams keep, or makes some. A call without a model finds
 * an object by its place alone, and goes to the first upstream there, in the order in which a gateway declares them. So
 * does a call of a route with weights, where an object would else be looked for at another account than its own.
 */
export function reachKept(
  { upstreams, operations }: GatewayRecord,
  wherever: Resolved,
  kept: KeptCall,
  row: OperationRow,
): Resolved | Problem {
  const resolved = whereRead(wherever, kept);
  if (resolved instanceof Problem) return resolved;
  const { declared, candidates } = resolved;
  if (declared === undefined) return kept.reach(resolved);
  const position = ({ upstream: { name } }: UpstreamCandidate) => upstreams.findIndex((each) => each.name === name);
  const inOrder = declared.toSorted((one, other) => position(one) - position(other));
  const [first = candidates[0], ...others] = inOrder;
  const fixed: Resolved = { ...resolved, candidates: [first, ...others] };
  const reached = kept.reach(fixed);
  // It is returned as it is for a call that names nothing.
  if (reached !== fixed) return reached;
  const keeps = kept.keeping !== undefined || row.kept?.brought !== undefined;
  const isNamedElsewhere = operations.some((kind) => KEPT_AT_FIRST.includes(kind));
  if (!keeps || !(isNamedElsewhere || shareOrigin(inOrder, row))) return resolved;
  // An object that a fallback's account keeps at the same place would be asked for at the first one's.
  return { ...fixed, candidates: [first, ...others.filter((one) => !isOtherAccount(first, one))] };
}

/** True if an object of one of the candidates may be asked for at another: a cached content is of one model. */
function shareOrigin(candidates: readonly UpstreamCandidate[], { kept }: OperationRow): boolean {
  const isOfModel = kept?.brought?.kind === "cache";
  return candidates.some((one, at) =>
    candidates.slice(at + 1).some((other) => isOtherAccount(one, other) || (isOfModel && isSamePlace(one, other))),
  );
}

function isOtherAccount(one: UpstreamCandidate, other: UpstreamCandidate): boolean {
  return one.upstream.credential !== other.upstream.credential && isSamePlace(one, other);
}

function isSamePlace(one: UpstreamCandidate, other: UpstreamCandidate): boolean {
  return placeOf(one.upstream) === placeOf(other.upstream);
}
