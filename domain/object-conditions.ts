/** What the statuses of teams, libraries and gateways say: in the controller's words, which a plan has too. */
import { condition, type StatedCondition } from "./conditions.ts";
import { MAX_CREDENTIAL_LENGTH } from "./credential-length.ts";
import { nameSome } from "./name-some.ts";
import { dataKeyTitle } from "./redact.ts";

/** `Ready` of a team, a library or a gateway: True where each of its own conditions is. */
export function readyOf(stated: readonly StatedCondition[]): StatedCondition {
  const problem = stated.find(({ status }) => status !== "True");
  return problem === undefined
    ? condition("Ready", "True", "Ready", "Everything is as declared.")
    : { ...problem, type: "Ready" };
}

/** Of what is declared in a namespace that no team holds. */
export function namespaceUnclaimed(): StatedCondition {
  return condition("Accepted", "False", "NamespaceUnclaimed", "No PlatformTeam claims this namespace.");
}

/** A namespace that another team holds. */
export type RefusedClaim = { readonly namespace: string; readonly heldBy: string };

/** A namespace that no team holds yet, and that another team gets. */
export type LeftClaim = { readonly namespace: string; readonly goesTo: string };

/**
 * Of a team: which of its namespaces it does not get.
 *
 * @param reserved those that are no team's
 */
export function namespaceClaims(
  refused: readonly RefusedClaim[],
  reserved: readonly string[],
  left: readonly LeftClaim[] = [],
): StatedCondition {
  if (refused.length === 0 && reserved.length === 0 && left.length === 0) {
    return condition("Accepted", "True", "Claimed", "The team holds its namespaces.");
  }
  const taken = [
    ...reserved.map((namespace) => `${namespace} is reserved for the cluster or for Keyplane`),
    ...refused.map(({ namespace, heldBy }) => `${namespace} is held by PlatformTeam ${heldBy}`),
    ...left.map(
      ({ namespace, goesTo }) => `${namespace} goes to PlatformTeam ${goesTo}, which claims it and comes first`,
    ),
  ];
  return condition("Accepted", "False", "NamespaceTaken", `${taken.join("; ")}.`);
}

/** How many of a list a status names. */
const MAX_NAMED = 5;

/**
 * Of a team: the libraries that it names and does not have; undefined where there is none.
 *
 * @param ofMembers as `namespace/name`
 */
export function teamLibraries(isPolicyMissing: boolean, ofMembers: readonly string[]): StatedCondition | undefined {
  const named = nameSome([...new Set(ofMembers)], MAX_NAMED);
  const said = [
    ...(isPolicyMissing ? ["The MCP agent policy's default library does not exist."] : []),
    ...(ofMembers.length > 0 ? [`Members are given libraries that do not exist: ${named}.`] : []),
  ];
  return said.length === 0 ? undefined : condition("ResolvedRefs", "False", "LibraryNotFound", said.join(" "));
}

/** Of a policy: whether it is for any team. */
export function policySelection(teams: number): StatedCondition {
  return teams === 0
    ? condition("ResolvedRefs", "False", "NoTeamSelected", "No PlatformTeam matches spec.teamSelector.")
    : condition("ResolvedRefs", "True", "Resolved", `Teams that it is for: ${teams}.`);
}

/** Of a policy: that what it asks is asked. */
export function policyInForce(): StatedCondition {
  return condition("Accepted", "True", "InForce", "The policy is in force.");
}

/** Of a policy that is being deleted: a finalizer may hold it for as long as it will. */
export function policyDeleting(finalizers: readonly string[]): StatedCondition {
  const message = `The policy is being deleted, and asks nothing of any key any more. It goes once its finalizers are taken off: ${nameSome(finalizers, MAX_NAMED)}.`;
  return condition("Accepted", "False", "Deleting", message);
}

/** Of a gateway: whether it has its public id. */
export function publicIdAccepted(publicId: string, isTaken: boolean): StatedCondition {
  return isTaken
    ? condition("Accepted", "False", "PublicIDTaken", `The public id ${publicId} belongs to another gateway.`)
    : condition("Accepted", "True", "Serving", `Served at /g/${publicId}.`);
}

/** A provider's credential that an upstream names. */
export type NamedCredential = { readonly upstream: string; readonly secret: string; readonly key: string };

/** Of a gateway: the credentials that are not there, or are longer than any may be. */
export function gatewayCredentials(
  missing: readonly (NamedCredential & { readonly isTooLong?: boolean })[],
): StatedCondition {
  const named = missing.map(({ upstream, secret, key, isTooLong = false }) => {
    const size = isTooLong ? ` of at most ${MAX_CREDENTIAL_LENGTH.toLocaleString("en")} characters` : "";
    return `Secret ${secret} with ${dataKeyTitle(key)}${size} (upstream ${upstream})`;
  });
  return named.length > 0
    ? condition("ResolvedRefs", "False", "CredentialNotFound", `There is no ${named.join(", and no ")}.`)
    : condition("ResolvedRefs", "True", "Resolved", "Every upstream has its credential.");
}

/** An upstream whose provider does not take its credential, with the format that it speaks. */
export type RefusingUpstream = NamedCredential & { readonly dialect: string };

/** Of a gateway: the credentials that providers refuse. It is no part of `Ready`: the gateway is as declared. */
export function credentialsAccepted(refused: readonly RefusingUpstream[]): StatedCondition {
  if (refused.length === 0) {
    const message = "No upstream refuses the credential that the gateway has for it.";
    return condition("CredentialsAccepted", "True", "NotRefused", message);
  }
  const named = refused.map(
    ({ upstream, dialect, secret, key }) =>
      `upstream ${upstream} (${dialect}) refuses ${dataKeyTitle(key)} of Secret ${secret}`,
  );
  const message = `The provider refuses its credential: ${named.join("; ")}.`;
  return condition("CredentialsAccepted", "False", "CredentialRefused", message);
}

/** A gateway that a library calls, as `namespace/name`. */
export type LibraryGateway = {
  readonly field: "embedding" | "extraction";
  readonly gateway: string;
  readonly isThere: boolean;
};

const WITHOUT_GATEWAY: Readonly<Record<LibraryGateway["field"], string>> = {
  embedding: "nothing is embedded",
  extraction: "no conversation is read",
};

/** Of a library: the gateways that it calls; undefined where it calls none. */
export function libraryGateways(named: readonly LibraryGateway[]): StatedCondition | undefined {
  if (named.length === 0) return undefined;
  const missing = named
    .filter(({ isThere }) => !isThere)
    .map(
      ({ field, gateway }) =>
        `spec.${field}.gatewayRef: the team has no ModelGateway ${gateway}, so that ${WITHOUT_GATEWAY[field]}.`,
    );
  return missing.length === 0
    ? condition("ResolvedRefs", "True", "Resolved", "The gateways that it calls exist.")
    : condition("ResolvedRefs", "False", "ReferenceNotFound", missing.join(" "));
}
