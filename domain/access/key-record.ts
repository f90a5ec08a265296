import type { KeyBudgets } from "../budget/budget.ts";
import type { Membership } from "./membership.ts";
import type { DeclaredLimits, DeclaredRate, LimitSpec, TokenLimit } from "./rate-limit.ts";
import type { ScopeSet } from "./scopes.ts";
import type { SubjectRule } from "./subject.ts";

/** What is declared of a key as a whole. `active` is the only state that may be used. */
export type KeyState = "active" | "suspended" | "revoked";

/**
 * The life of one version, that is of one secret (architecture §2): `reserved` before its Secret is written, `active`,
 * `retiring` while its successor takes over, then one of the three ends.
 */
export type VersionState = "reserved" | "active" | "retiring" | "retired" | "voided" | "revoked";

/** What a decision reads of a key and that many keys have in common: a replica keeps each such combination once. */
export type KeyAttributes = {
  readonly teamId: string;
  /** The namespace that bare library names are looked up in; empty for a key that no namespace declares. */
  readonly namespace: string;
  /** False while the key's namespace is not claimed by its team: the key is suspended until it is again. */
  readonly teamHoldsNamespace: boolean;
  readonly state: KeyState;
  readonly versionState: VersionState;
  readonly scopes: ScopeSet;
  /** Null: any gateway of the team. Otherwise the id of the one gateway, or `""` when that gateway is gone. */
  readonly boundGatewayId: string | null;
  /** Ids of the libraries that may be reached, or null for all of the team's. */
  readonly libraryIds: readonly string[] | null;
  readonly mcpDefaultLibraryId: string | null;
  /** The team's own default, from its MCP agent policy. */
  readonly teamDefaultLibraryId: string | null;
  /** Routes and models that may be named at a gateway, or null for any. */
  readonly allowedModels: readonly string[] | null;
  readonly rateLimit: DeclaredRate | null;
  /** Calls that may be under way at once; null for the usual bound. */
  readonly concurrent: number | null;
  /** Of the tokens that its calls of models use. */
  readonly tokenLimit: TokenLimit | null;
  /** Whose memory it is for; null for what is shared. */
  readonly subject: SubjectRule | null;
  /** The networks that it may be used from; null for anywhere. */
  readonly allowedCIDRs: readonly string[] | null;
  /** Those of its team's keys, besides. */
  readonly teamAllowedCIDRs: readonly string[] | null;
  /** What all calls of its team have together; null where the team declares nothing. */
  readonly teamLimits: DeclaredLimits | null;
  /** What its calls of models may use by period; undefined for no bound. Its team's are among the team's limits. */
  readonly budgets?: KeyBudgets | undefined;
};

/** What a caller has that is held to nothing but its scopes, its team and that team's limits. */
export const UNRESTRICTED = {
  ...{ boundGatewayId: null, libraryIds: null, mcpDefaultLibraryId: null, allowedModels: null },
  ...{ rateLimit: null, concurrent: null, tokenLimit: null, subject: null, allowedCIDRs: null },
} as const satisfies Partial<KeyAttributes>;

/**
 * Everything that deciding a request needs to know of one version of a key: a row of a replica's index, found by the
 * digest of the presented secret. Times are milliseconds since the epoch.
 */
export type KeyRecord = KeyAttributes & {
  readonly keyId: string;
  readonly version: number;
  /** The earliest of the key's end, the version's end and, when retiring, its deadline; Infinity for none. */
  readonly expiresAt: number;
  /** Of a team's member with a token in place of a key: whose, and in which team. */
  readonly membership?: Membership;
};

/**
 * The version number of whatever stands for a key and is none that the database has: a placeholder, or a team's member
 * with a token. Stored versions begin at 1.
 */
export const UNSTORED_VERSION = 0;

export const DIALECTS = ["openai", "gemini", "anthropic"] as const;
/** The wire format of a model provider. */
export type Dialect = (typeof DIALECTS)[number];

/** A gateway as a replica serves it. Credentials are in clear here and nowhere else in the server. */
export type GatewayRecord = {
  readonly gatewayId: string;
  readonly publicId: string;
  readonly teamId: string;
  /** False while its namespace is not claimed by its team: it serves no call. */
  readonly teamHoldsNamespace: boolean;
  readonly routesOnly: boolean;
  readonly upstreams: readonly UpstreamRecord[];
  readonly routes: readonly RouteRecord[];
};

export type UpstreamRecord = {
  readonly name: string;
  readonly dialect: Dialect;
  /** Origin and optional path prefix, without a trailing slash. */
  readonly baseUrl: string;
  /** The provider's credential; null while its Secret cannot be read, and then nothing is forwarded. */
  readonly credential: string | null;
};

export type RouteRecord = {
  /** The `model` value that names this route. */
  readonly model: string;
  readonly routeId: string;
  /** Name of the upstream, and the model asked of it. */
  readonly upstream: string;
  readonly upstreamModel: string;
  readonly fallbacks: readonly { readonly upstream: string; readonly upstreamModel: string }[];
  /** What all calls that name it have together, as it was declared. */
  readonly rateLimit?: LimitSpec;
};
