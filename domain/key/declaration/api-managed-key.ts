import type { Spec } from "../../kinds/kinds.ts";
import { FACT_NAMES } from "./facts.ts";

/**
 * Fields that may be set on a key made by the management API: all fields of a PlatformKey's spec that need no
 * controller and can change without a new secret.
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
