import { limitSpec } from "../../../../domain/access/declared-limits.ts";
import type { ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import type { NamedRef } from "../../../../domain/key/declaration/declared-key.ts";
import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import type { Db } from "../../../../store/database/change.ts";
import type { ListedKey } from "../../../../store/keys/search/key-lists.ts";
import { namesOf } from "../../../../store/objects/references.ts";

/**
 * Gives the spec of each key. For a key that was made here it is the requested one. For a declared key it is what the
 * store has of its declaration, without references to objects that cannot be found.
 */
export async function specsOf(db: Db, keys: readonly ListedKey[]): Promise<(key: ListedKey) => ApiManagedKeySpec> {
  const declared = keys.filter(({ spec }) => spec === null).map(({ policy }) => policy);
  const gateways = await namesOf(db, "gateways", unique(declared.map(({ boundGatewayId }) => boundGatewayId)));
  const libraries = await namesOf(
    db,
    "libraries",
    unique(declared.flatMap(({ libraryIds, mcpDefaultLibraryId }) => [...(libraryIds ?? []), mcpDefaultLibraryId])),
  );
  return (key) => key.spec ?? declaredSpec(key, gateways, libraries);
}

function declaredSpec(
  { policy }: ListedKey,
  gateways: ReadonlyMap<string, NamedRef>,
  libraries: ReadonlyMap<string, NamedRef>,
): ApiManagedKeySpec {
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

function unique(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.flatMap((id) => id || []))];
}
