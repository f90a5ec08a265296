import type { DeclaredRate, TokenLimit } from "../../access/rate-limit.ts";
import type { Scope } from "../../access/scopes.ts";
import type { SubjectRule } from "../../access/subject.ts";
import type { Budget } from "../../budget/budget.ts";
import type { StatedFacts } from "./facts.ts";

/**
 * Policy of a key that can change without a new secret (spec §1): everything that a decision reads except the secret.
 * References are resolved to ids. Times are milliseconds since the epoch.
 */
export type KeyPolicy = StatedFacts & {
  readonly displayName: string;
  readonly scopes: readonly Scope[];
  /** Id of the gateway that the key is bound to, `""` if it does not exist, which allows none; null if unbound. */
  readonly boundGatewayId: string | null;
  /** Ids of the libraries that the key may reach. Null: all of the team's. */
  readonly libraryIds: readonly string[] | null;
  /** Id of the default library for MCP, `""` if it does not exist, which means none; null for the team's default. */
  readonly mcpDefaultLibraryId: string | null;
  readonly allowedModels: readonly string[] | null;
  readonly suspended: boolean;
  /** Expiry of the whole key, in milliseconds since the epoch; that of a version follows from `expiresAfter`. */
  readonly expiresAt: number | null;
  readonly rateLimit: DeclaredRate | null;
  /** Maximum number of concurrent calls; null for the default limit. */
  readonly concurrent: number | null;
  /** Limit on the tokens that its model calls use. */
  readonly tokenLimit: TokenLimit | null;
  /** Budgets for its model calls by period; null for no budget. */
  readonly budgets: readonly Budget[] | null;
  /** Rule for the subject whose memory calls reach; null for the shared memory alone. */
  readonly subject: SubjectRule | null;
  /** Networks from which the key may be used; null for any. */
  readonly allowedCIDRs: readonly string[] | null;
};

/** Names of fields whose declared form differs from the stored form, or that are declared by names instead of ids. */
export type ResolvedFieldName = "boundGatewayId" | "libraryIds" | "mcpDefaultLibraryId" | "suspended";
/** Names of fields that a declared key has in the stored form. */
export type PlainFieldName = Exclude<keyof KeyPolicy, ResolvedFieldName>;
