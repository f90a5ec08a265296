import { limitSpec } from "../../../../domain/access/declared-limits.ts";
import type { ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import type { ListedKey } from "../../../../store/keys/search/key-lists.ts";
import type { KeyNames } from "../../../../store/keys/search/key-names.ts";

/**
 * The spec of a key. For a key that was made here it is the requested one. For a declared key it is what the store has of
 * its declaration, without references to objects that cannot be found.
 */
export function shownSpec(key: ListedKey, names: KeyNames): ApiManagedKeySpec {
  return key.spec ?? declaredSpec(key, names);
}

function declaredSpec({ policy }: ListedKey, { gateways, libraries }: KeyNames): ApiManagedKeySpec {
  const gateway = gateways.get(policy.boundGatewayId ?? "");
  const library = libraries.get(policy.mcpDefaultLibraryId ?? "");
  const rateLimit = limitSpec({
    rate: policy.rateLimit,
    concurrent: policy.concurrent,
    ...(policy.tokenLimit && { tokens: policy.tokenLimit }),
  });
  const libraryRefs = policy.libraryIds?.flatMap((id) => libraries.get(id) ?? []);
  return {
    displayName: policy.displayName,
    scopes: [...policy.scopes],
    ...(gateway && { gatewayRef: gateway }),
    ...(policy.allowedModels && { allowedModels: [...policy.allowedModels] }),
    ...(libraryRefs && { libraryAccess: { mode: "Restricted", libraryRefs } }),
    ...(library && { mcpDefaultLibraryRef: library }),
    ...(policy.subject && { subjectAccess: policy.subject }),
    ...(policy.allowedCIDRs && { allowedCIDRs: [...policy.allowedCIDRs] }),
    state: policy.suspended ? "Suspended" : "Active",
    ...(policy.expiresAt !== null && { expiresAt: rfc3339Millis(policy.expiresAt) }),
    ...(rateLimit && { rateLimit }),
    ...(policy.budgets && { budgets: [...policy.budgets] }),
  };
}
