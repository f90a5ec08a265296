import type { KeyBudgets } from "../budget/budget.ts";
import type { Spec } from "../kinds/kinds.ts";
import type { Membership, TeamRecord } from "./membership.ts";
import type { DeclaredLimits, DeclaredRate, LimitSpec, TokenLimit } from "./rate-limit.ts";
import type { ScopeSet } from "./scopes.ts";
import type { SubjectRule } from "./subject.ts";

/** State of a whole key. Only an `active` key may be used. */
export type KeyState = "active" | "suspended" | "revoked";

/**
 * State of one version, that is of one secret (architecture §2): `reserved` before its Secret is written, `active`,
 * `retiring` while its successor takes over, then one of the three end states.
 */
export type VersionState = "reserved" | "active" | "retiring" | "retired" | "voided" | "revoked";

/** Attributes of a key that a decision reads and that many keys share: a replica keeps each combination once. */
export type KeyAttributes = {
  readonly teamId: string;
  /** Namespace in which bare library names are looked up; empty for a key that no namespace declares. */
  readonly namespace: string;
  /** False while the key's namespace is not claimed by its team: the key is suspended until it is again. */
  readonly teamHoldsNamespace: boolean;
  readonly state: KeyState;
  readonly versionState: VersionState;
  readonly scopes: ScopeSet;
  /** Id of the only gateway that the key may call, `""` if that gateway is gone; null for any gateway of the team. */
  readonly boundGatewayId: string | null;
  /** Ids of the libraries that the key may reach, or null for all of the team's. */
  readonly libraryIds: readonly string[] | null;
  readonly mcpDefaultLibraryId: string | null;
  /** The team's own default, from its MCP agent policy. */
  readonly teamDefaultLibraryId: string | null;
  /** Routes and models that the key may name at a gateway, or null for any. */
  readonly allowedModels: readonly string[] | null;
  readonly rateLimit: DeclaredRate | null;
  /** Maximum number of concurrent calls; null for the default limit. */
  readonly concurrent: number | null;
  /** Limit on the tokens that its model calls use. */
  readonly tokenLimit: TokenLimit | null;
  /** Rule for the subject whose memory calls reach; null for the shared memory alone. */
  readonly subject: SubjectRule | null;
  /** Networks from which the key may be used; null for any. */
  readonly allowedCIDRs: readonly string[] | null;
  /** Networks from which all keys of its team may be used; they apply besides the key's own. Null for any. */
  readonly teamAllowedCIDRs: readonly string[] | null;
  /** Limits that all calls of its team share; null if the team declares none. */
  readonly teamLimits: DeclaredLimits | null;
  /** Budgets for its model calls by period; undefined for none. Its team's budgets are among the team's limits. */
  readonly budgets?: KeyBudgets | undefined;
};

/**
 * Everything that a decision on a request needs to know of one version of a key: a row of a replica's index, found by
 * the digest of the presented secret. Times are milliseconds since the epoch.
 */
export type KeyRecord = KeyAttributes & {
  readonly keyId: string;
  readonly version: number;
  /** Earliest of the key's expiry, the version's expiry and, when retiring, its deadline; Infinity for none. */
  readonly expiresAt: number;
  /** Membership of a caller with a token instead of a key: the token and the team. Left out for a key. */
  readonly membership?: Membership;
};

/**
 * Version number of a record that stands for a key but is not in the database: a placeholder, or a team's member with a
 * token. Stored versions begin at 1.
 */
export const UNSTORED_VERSION = 0;

/** Facts about a team from which the record of its caller is built. */
export type CallersTeam = Omit<TeamRecord, "cluster" | "members" | "revoked">;

/** Builds the record of a team's caller that has no key in the database: no field of a key restricts it further. */
export function unstoredKey(
  team: CallersTeam,
  caller: Pick<KeyRecord, "keyId" | "state" | "expiresAt" | "scopes" | "libraryIds" | "membership">,
): KeyRecord {
  return {
    ...caller,
    version: UNSTORED_VERSION,
    versionState: "active",
    teamId: team.teamId,
    namespace: "",
    teamHoldsNamespace: true,
    boundGatewayId: null,
    mcpDefaultLibraryId: null,
    allowedModels: null,
    rateLimit: null,
    concurrent: null,
    tokenLimit: null,
    subject: null,
    allowedCIDRs: null,
    teamDefaultLibraryId: team.defaultLibraryId,
    teamAllowedCIDRs: team.allowedCIDRs,
    teamLimits: team.limits,
  };
}

export const DIALECTS = ["openai", "gemini", "anthropic"] as const;
/** The wire format of a model provider. */
export type Dialect = (typeof DIALECTS)[number];

/** Kind of calls, as a gateway names what it serves. */
export type OperationKind = Spec<"ModelGateway">["operations"][number];

/** A gateway as a replica serves it. Credentials are in clear here and nowhere else in the server. */
export type GatewayRecord = {
  readonly gatewayId: string;
  readonly publicId: string;
  readonly teamId: string;
  /** False while its namespace is not claimed by its team: the gateway then serves no call. */
  readonly teamHoldsNamespace: boolean;
  readonly routesOnly: boolean;
  /** Kinds of calls that it serves. */
  readonly operations: readonly OperationKind[];
  readonly upstreams: readonly UpstreamRecord[];
  readonly routes: readonly RouteRecord[];
};

export type UpstreamRecord = {
  readonly name: string;
  readonly dialect: Dialect;
  /** Origin and optional path prefix, without a trailing slash. */
  readonly baseUrl: string;
  /**
   * The provider's credential; null while its Secret cannot be read, and then nothing is forwarded; false for an
   * upstream that is declared without one, which is asked without any.
   */
  readonly credential: string | null | false;
};

export type RouteRecord = {
  /** The `model` value that names this route. */
  readonly model: string;
  readonly routeId: string;
  /** Name of the upstream, and the model asked of it. */
  readonly upstream: string;
  readonly upstreamModel: string;
  /** Part of the route's calls that ask it first, in proportion to the weights of fallbacks; left out for all calls. */
  readonly weight?: number | undefined;
  /** `Key` if all calls of a key ask the same one first, as far as weights leave a choice. */
  readonly sticky?: "Key" | undefined;
  readonly fallbacks: readonly {
    readonly upstream: string;
    readonly upstreamModel: string;
    readonly weight?: number | undefined;
  }[];
  /** Limits that all calls naming this route share, as declared. */
  readonly rateLimit?: LimitSpec;
  /** Times that each upstream is asked again after it has failed. */
  readonly retry?: { readonly attempts: number };
  /** Seconds until an answer begins, over all attempts, and without a piece of it. */
  readonly timeouts?: { readonly firstByteSeconds?: number | undefined; readonly idleSeconds?: number | undefined };
};
