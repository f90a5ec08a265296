/** What a declaration comes to in the store. */
import type { DeclaredKey } from "../declaration/declared-key.ts";
import type { KeyPolicy } from "../stored/stored-key.ts";
import type { ResolvedReferences } from "./observed-key.ts";

/** What the store should say of the key, but for its secret. */
export function policyOf(declared: DeclaredKey, references: ResolvedReferences): KeyPolicy {
  return {
    displayName: declared.displayName,
    scopes: declared.scopes,
    boundGatewayId: references.gatewayId,
    libraryIds: references.libraryIds,
    mcpDefaultLibraryId: references.mcpDefaultLibraryId,
    allowedModels: declared.allowedModels,
    suspended: declared.state === "Suspended",
    expiresAt: declared.expiresAt,
    rateLimit: declared.rateLimit,
    concurrent: declared.concurrent,
    tokenLimit: declared.tokenLimit,
    budgets: declared.budgets,
    subject: declared.subject,
    allowedCIDRs: declared.allowedCIDRs,
  };
}
