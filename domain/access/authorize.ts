import type { KeyRecord } from "./key-record.ts";
import { type RefusalCause, unusableBecause } from "./key-state.ts";
import { OPERATIONS, type OperationName } from "./operations.ts";
import { type Product, productScopes, type ScopeSet, scopeBit } from "./scopes.ts";
import { type Client, refusedSource, type SourceRefusal } from "./source-addresses.ts";

/** Product and operation that a request asks for, by its matched route. */
export type AccessRequest =
  | { readonly product: "memory" | "key"; readonly operation: OperationName | undefined }
  | {
      readonly product: "gateway";
      /** Undefined for a path and method that are no operation. */
      readonly operation: OperationName | undefined;
      /** Gateway that the path's public id names; undefined if there is none. */
      readonly gateway: { readonly gatewayId: string; readonly teamId: string } | undefined;
    };

/** Reason for a refusal. `unauthorized` is 401, `address_not_allowed` and `forbidden` are 403, `not_found` is 404. */
type Denial =
  | { readonly code: "unauthorized"; readonly cause: RefusalCause }
  | { readonly code: "address_not_allowed"; readonly by: SourceRefusal }
  | { readonly code: "forbidden"; readonly reason: ForbiddenReason }
  | { readonly code: "not_found" };

export type ForbiddenReason = "bound_to_another_gateway" | "no_scope_of_this_product" | "scope_missing";

const UNAUTHORIZED: Readonly<Record<RefusalCause, Denial>> = {
  unknown: { code: "unauthorized", cause: "unknown" },
  revoked: { code: "unauthorized", cause: "revoked" },
  expired: { code: "unauthorized", cause: "expired" },
  suspended: { code: "unauthorized", cause: "suspended" },
  wrong_team: { code: "unauthorized", cause: "wrong_team" },
};
const ELSEWHERE: Readonly<Record<SourceRefusal, Denial>> = {
  key: { code: "address_not_allowed", by: "key" },
  team: { code: "address_not_allowed", by: "team" },
  unknown: { code: "address_not_allowed", by: "unknown" },
};
const BOUND_ELSEWHERE: Denial = { code: "forbidden", reason: "bound_to_another_gateway" };
const NO_PRODUCT_SCOPE: Denial = { code: "forbidden", reason: "no_scope_of_this_product" };
const SCOPE_MISSING: Denial = { code: "forbidden", reason: "scope_missing" };
const NOT_FOUND: Denial = { code: "not_found" };

const PRODUCT_SCOPES: Record<Product, ScopeSet> = {
  gateway: productScopes("gateway"),
  memory: productScopes("memory"),
  key: productScopes("key"),
};

/** Scope bits that each operation asks for, any of which permits it. */
const NEEDED: Record<OperationName, ScopeSet> = Object.fromEntries(
  Object.entries(OPERATIONS).map(([name, { product, scope }]) => [
    name,
    scope === null ? PRODUCT_SCOPES[product] : scopeBit(scope),
  ]),
) as Record<OperationName, ScopeSet>;

/**
 * Decides one request: the only place that does (spec §2). Pure and without allocation.
 *
 * @param key the record found by the presented secret's digest, or undefined if none was found
 * @param now milliseconds since the epoch
 * @param client caller of the request; null for the server itself, which acts for a library or answers a question about
 * the key
 * @returns undefined if the request may go on, else the first denial in the order of spec §2.8;
 * docs/reference/key-rules.md
 * says which cause of a 401 comes first
 */
export function authorize(
  key: KeyRecord | undefined,
  request: AccessRequest,
  now: number,
  client: Client | null,
): Denial | undefined {
  if (key === undefined) return UNAUTHORIZED.unknown;
  const cause = unusableBecause(key, now);
  if (cause !== undefined) return UNAUTHORIZED[cause];
  const elsewhere = refusedSource(key, client);
  if (elsewhere !== undefined) return ELSEWHERE[elsewhere];
  if (request.product === "gateway") {
    if (key.boundGatewayId !== null) {
      if (request.gateway?.gatewayId !== key.boundGatewayId) return BOUND_ELSEWHERE;
    }
    if (request.gateway?.teamId !== key.teamId) return UNAUTHORIZED.wrong_team;
  }
  if ((key.scopes & PRODUCT_SCOPES[request.product]) === 0) return NO_PRODUCT_SCOPE;
  if (request.operation === undefined) return NOT_FOUND;
  return permits(key, request.operation) ? undefined : SCOPE_MISSING;
}

/** Returns the scope bits of which a key needs one; for a path and method that are no operation, its product's. */
export function neededScopes({ product, operation }: Pick<AccessRequest, "product" | "operation">): ScopeSet {
  return operation === undefined ? PRODUCT_SCOPES[product] : NEEDED[operation];
}

/** True if the key's scopes cover an operation: for rights that depend on a parsed body (spec §2.8). */
export function permits(key: KeyRecord, operation: OperationName): boolean {
  return (key.scopes & NEEDED[operation]) !== 0;
}
