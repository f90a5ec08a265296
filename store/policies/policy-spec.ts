import type { PlatformKeyPolicySpec } from "../../domain/kinds/generated/platform-key-policy.ts";
import { checkSpec } from "../../domain/manifest/validation/check-spec.ts";

/**
 * Reads a stored policy; undefined for one that this version cannot read: what it does not know of a policy would be let
 * go without a word, and so it reads nothing of it.
 */
export function readPolicySpec({
  name,
  spec,
}: {
  readonly name: string;
  readonly spec: unknown;
}): PlatformKeyPolicySpec | undefined {
  if (spec === null) return undefined;
  const checked = checkSpec("PlatformKeyPolicy", name, spec);
  return "spec" in checked ? checked.spec : undefined;
}
