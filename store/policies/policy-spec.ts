import type { PlatformKeyPolicySpec } from "../../domain/kinds/generated/platform-key-policy.ts";
import { checkSpec } from "../../domain/manifest/validation/check-spec.ts";

/**
 * Reads a stored policy; undefined if this version does not know all of it. Reading only the known part would silently
 * ignore the rest.
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
