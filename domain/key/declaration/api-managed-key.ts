import type { Spec } from "../../kinds/kinds.ts";
import { FACT_NAMES } from "./facts.ts";

/**
 * What can be said of a key that the management API makes: of a PlatformKey's spec all that does not need a controller,
 * and that can change without a new secret.
 */
export const API_MANAGED_KEY_FIELDS = [
  "displayName",
  "preset",
  "scopes",
  "gatewayRef",
  "allowedModels",
  "libraryAccess",
  "mcpDefaultLibraryRef",
  "subjectAccess",
  "allowedCIDRs",
  "state",
  "expiresAfter",
  "expiresAt",
  "rateLimit",
  "budgets",
  ...FACT_NAMES,
] as const satisfies readonly (keyof Spec<"PlatformKey">)[];

export type ApiManagedKeySpec = Pick<Spec<"PlatformKey">, (typeof API_MANAGED_KEY_FIELDS)[number]>;
