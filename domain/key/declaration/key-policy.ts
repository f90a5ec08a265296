import type { DeclaredRate, TokenLimit } from "../../access/rate-limit.ts";
import type { Scope } from "../../access/scopes.ts";
import type { SubjectRule } from "../../access/subject.ts";
import type { Budget } from "../../budget/budget.ts";
import type { StatedFacts } from "./facts.ts";

/**
 * What can be changed of a key without a new secret (spec §1): everything that a decision reads but the secret itself.
 * References are resolved to ids. Times are milliseconds since the epoch.
 */
export type KeyPolicy = StatedFacts & {
  readonly displayName: string;
  readonly scopes: readonly Scope[];
  /** Null: unbound. `""`: bound to a gateway that does not exist, which grants none. */
  readonly boundGatewayId: string | null;
  /** Null: all of the team's. */
  readonly libraryIds: readonly string[] | null;
  /** Null: the team's. `""`: one that does not exist, which is none. */
  readonly mcpDefaultLibraryId: string | null;
  readonly allowedModels: readonly string[] | null;
  readonly suspended: boolean;
  /** Ends the whole key; the end of one version follows from `expiresAfter`. */
  readonly expiresAt: number | null;
  readonly rateLimit: DeclaredRate | null;
  /** Calls that may be under way at once; null for the usual bound. */
  readonly concurrent: number | null;
  /** Of the tokens that its calls of models use. */
  readonly tokenLimit: TokenLimit | null;
  /** What its calls of models may use by period; null for no bound. */
  readonly budgets: readonly Budget[] | null;
  /** Whose memory it is for; null for what is shared. */
  readonly subject: SubjectRule | null;
  /** The networks that it may be used from; null for anywhere. */
  readonly allowedCIDRs: readonly string[] | null;
};

/** The fields that a declaration says in another form than the store, or by names in the place of ids. */
export type ResolvedFieldName = "boundGatewayId" | "libraryIds" | "mcpDefaultLibraryId" | "suspended";
/** The fields that a declared key has as the store has them. */
export type PlainFieldName = Exclude<keyof KeyPolicy, ResolvedFieldName>;
