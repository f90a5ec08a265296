import type { ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import { specOfPolicy } from "../../../../domain/key/fields/key-policies.ts";
import type { ListedKey } from "../../../../store/keys/search/key-lists.ts";
import type { KeyNames } from "../../../../store/keys/search/key-names.ts";

/**
 * Returns the spec of a key. For a key that was made by hand it is the requested spec. For a declared key it is what
 * the store has of its declaration, without references to objects that cannot be found.
 */
export function shownSpec({ spec, policy }: ListedKey, { gateways, libraries }: KeyNames): ApiManagedKeySpec {
  return spec ?? specOfPolicy(policy, { gateway: (id) => gateways.get(id), library: (id) => libraries.get(id) });
}
