/** Conditions of teams, policies, libraries and gateways, for the controller and for plans alike. */
import { condition, type StatedCondition } from "./conditions.ts";
import { nameSome } from "./name-some.ts";
import { MAX_CREDENTIAL_LENGTH } from "./provider-credential.ts";
import { dataKeyTitle } from "./redact.ts";

/** Returns `Ready` of a team, a library or a gateway: True if all of its own conditions are. */
export function readyOf(stated: readonly StatedCondition[]): StatedCondition {
  const problem = stated.find(({ status }) => status !== "True");
  return problem === undefined
    ? condition("Ready", "True", "Ready", "Everything is as declared.")
    : { ...problem, type: "Ready" };
}

/** Returns the condition of an object in a namespace that no team holds. */
export function namespaceUnclaimed(): StatedCondition {
  return condition("Accepted", "False", "NamespaceUnclaimed", "No PlatformTeam claims this namespace.");
}

/** A namespace that another team holds. */
export type RefusedClaim = { readonly namespace: string; readonly heldBy: string };

/** A namespace that no team holds yet, and that another team gets. */
export type LeftClaim = { readonly namespace: string; readonly goesTo: string };

/**
 * Returns the condition of a team that tells which of its namespaces it does not get.
 *
 * @param reserved namespaces that no team may have
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

/** Maximum number of list items that a status names. */
const MAX_NAMED = 5;

/**
 * Returns the condition of a team about libraries that it names and does not have; undefined if there are none.
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

/** Returns the condition of a policy that tells if it selects any team. */
export function policySelection(teams: number): StatedCondition {
  return teams === 0
    ? condition("ResolvedRefs", "False", "NoTeamSelected", "No PlatformTeam matches spec.teamSelector.")
    : condition("ResolvedRefs", "True", "Resolved", `Teams that it is for: ${teams}.`);
}

/** Returns the condition of a policy that is in force. */
export function policyInForce(): StatedCondition {
  return condition("Accepted", "True", "InForce", "The policy is in force.");
}

/** Returns the condition of a policy that is being deleted: a finalizer may hold it for any time. */
export function policyDeleting(finalizers: readonly string[]): StatedCondition {
  const message = `The policy is being deleted, and asks nothing of any key any more. It goes once its finalizers are taken off: ${nameSome(finalizers, MAX_NAMED)}.`;
  return condition("Accepted", "False", "Deleting", message);
}

/** Returns the condition of a gateway that tells if it has its public id. */
export function publicIdAccepted(publicId: string, isTaken: boolean): StatedCondition {
  return isTaken
    ? condition("Accepted", "False", "PublicIDTaken", `The public id ${publicId} belongs to another gateway.`)
    : condition("Accepted", "True", "Serving", `Served at /g/${publicId}.`);
}

/** A provider's credential that an upstream names. */
export type NamedCredential = { readonly upstream: string; readonly secret: string; readonly key: string };

/** A named credential that an upstream does not have. */
export type MissingCredential = NamedCredential & {
  /** True if what its data key holds is too long, or has characters that no header carries (threats b249, b469). */
  readonly isUnusable?: boolean;
  /** PlatformKey whose own Secret it is: its key is no provider's credential, and is sent to none (threats b422). */
  readonly writtenBy?: string;
};

/**
 * Returns the condition of a gateway about credentials that are missing, unusable, or keys of Keyplane.
 *
 * @param without names of the upstreams that are declared without a credential
 */
export function gatewayCredentials(missing: readonly MissingCredential[], without: readonly string[]): StatedCondition {
  const absent = missing.filter((one) => faultOf(one) === undefined).map(wanted);
  const faults = missing.flatMap((one) => faultOf(one) ?? []);
  if (missing.length > 0) {
    const first = absent.length === 0 ? [] : [`There is no ${absent.join(", and no ")}.`];
    return condition("ResolvedRefs", "False", "CredentialNotFound", [...first, ...faults].join(" "));
  }
  const message =
    without.length === 0
      ? "Every upstream has its credential."
      : `Every upstream that names a credential has it. Without credentialRef, and so called without a credential: ${nameSome(without, MAX_NAMED)}.`;
  return condition("ResolvedRefs", "True", "Resolved", message);
}

const wanted = ({ upstream, secret, key }: NamedCredential): string =>
  `Secret ${secret} with ${dataKeyTitle(key)} (upstream ${upstream})`;

/** Returns what is wrong with a credential that is there; undefined if there is none. */
function faultOf({ upstream, secret, key, isUnusable, writtenBy }: MissingCredential): string | undefined {
  const names = `credentialRef of upstream ${upstream} names`;
  if (writtenBy !== undefined) {
    return `${names} Secret ${secret}, which PlatformKey ${writtenBy} writes: its key would go to the provider. Name another Secret.`;
  }
  const size = `of at most ${MAX_CREDENTIAL_LENGTH.toLocaleString("en")} characters`;
  return isUnusable
    ? `${names} ${dataKeyTitle(key)} of Secret ${secret}, which no header carries: write it there in one line, without typographic quotes and the like, ${size}.`
    : undefined;
}

/** An upstream whose provider refuses its credential, with its dialect. */
export type RefusingUpstream = {
  readonly upstream: string;
  readonly dialect: string;
  /** Credential that it refuses; undefined if it asks for one, and its declaration names none. */
  readonly credential: { readonly secret: string; readonly key: string } | undefined;
};

/** Returns a gateway's condition about refused credentials. It is no part of `Ready`: the gateway is as declared. */
export function credentialsAccepted(refused: readonly RefusingUpstream[]): StatedCondition {
  if (refused.length === 0) {
    const message = "No upstream refuses the credential that the gateway has for it.";
    return condition("CredentialsAccepted", "True", "NotRefused", message);
  }
  const named = refused.map(({ upstream, dialect, credential }) =>
    credential === undefined
      ? `upstream ${upstream} (${dialect}) asks for one, and has no credentialRef`
      : `upstream ${upstream} (${dialect}) refuses ${dataKeyTitle(credential.key)} of Secret ${credential.secret}`,
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

/** Returns the condition of a library about the gateways that it calls; undefined if it calls none. */
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
