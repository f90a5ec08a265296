import type { ForbiddenReason } from "../../../domain/access/authorize.ts";
import type { RefusalCause } from "../../../domain/access/key-state.ts";
import { inWords } from "../../management/audit/event-text.ts";

/** Returns the cause of a refusal in words. */
export function causeText(cause: string): string {
  return inWords(cause.replaceAll("_", " "));
}

/** Says what ends a refusal of this cause, and when. Empty for a cause of a later build. */
export function causeAdvice(cause: string): string {
  return ADVICE[causeParts(cause).kind] ?? "";
}

/**
 * Splits a cause into the owner of its limit or budget, which is its prefix unless it is the key itself, and its kind.
 */
export function causeParts(cause: string): { readonly of: "key" | "team" | "policy" | "route"; readonly kind: string } {
  const of = LIMIT_OWNERS.find((owner) => cause.startsWith(`${owner}_`));
  return of === undefined ? { of: "key", kind: cause } : { of, kind: cause.slice(of.length + 1) };
}

const LIMIT_OWNERS = ["team", "policy", "route"] as const;

const ANOTHER_KEY = "Give what sends it a key that works.";
const NO_KEY = "It is no key of this installation: correct what sends it, or find it by its network.";
const ADD_SCOPE = "Add the scope to the key, or use another key.";
const SERVERS = "The servers lack what they decide by: see Now, and their logs.";
const SIGN_IN = "Get a new token, or sign in again.";

const ADVICE: Readonly<Record<string, string>> = {
  rate_limited: "There is room again within a minute. Where it goes on: slow down what calls, or raise the limit.",
  token_limited:
    "There is room again once time has paid for the tokens that were used. Where it goes on: ask for shorter answers, or raise the limit.",
  too_many_calls:
    "There is room once a call that is under way ends. Where it goes on: raise the limit of calls at once.",
  budget_exceeded:
    "There is room again when the budget resets, as the page of the key or the team says; until then for calls that may use less.",
  budget_crowded: "There is room once calls that are under way have reported what they used.",
  budget_unpriced: "Add the model to the price list, or have a model called that is on it.",
  budget_unknown: SERVERS,
  stale_index: SERVERS,
  issuer_unavailable: "The issuer of the token does not answer: see the servers' logs.",
  model_not_allowed: "Add the model to those that the key may call, or have one of those called.",
  scope_missing: ADD_SCOPE,
  no_scope_of_this_product: ADD_SCOPE,
  bound_to_another_gateway: "Have the gateway called that the key is bound to, or bind it to this one.",
  wrong_team: "Use a key of the team that the gateway belongs to.",
  address_not_allowed: "Call from the networks of the key and its team, or add this one.",
  address_unknown: "Have the proxy write the caller's address into X-Forwarded-For.",
  not_held_by_proxy:
    "Have the key call Keyplane's own server, or use a key without what a proxy cannot hold: its answer says which.",
  unsafe_at_proxy: "Have the client leave out the header or the parameter that its answer speaks of.",
  unreadable_question:
    "Set the proxy up as its guide says: it does not show which request it asks about, or in two ways.",
  unknown_peer: "Give the proxy the token of --authz-token-file, or find what else asks on that port.",
  no_such_operation: "Correct the path or the method of the call.",
  revoked: ANOTHER_KEY,
  expired: `${ANOTHER_KEY} Or move the key's end.`,
  suspended: "Make the key active again, or stop what sends it.",
  missing: NO_KEY,
  malformed: NO_KEY,
  repeated_carrier: "Have the key sent once: several places of the request have one.",
  unknown: NO_KEY,
  no_member: "Name the subject, or a group of theirs, among the members of a team.",
  management_forbidden: "Their role in the team does not allow it: an admin of the team can change the role.",
  jwt_expired: SIGN_IN,
  session_unknown: SIGN_IN,
  no_management_token: SIGN_IN,
} satisfies Record<RefusalCause | ForbiddenReason, string> & Record<string, string>;
