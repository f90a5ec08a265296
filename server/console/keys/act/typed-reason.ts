import type { ReasonBody } from "../../../management/request-schemas.ts";

/** Maximum number of characters of a reason, as in the management API. */
const MAX_REASON = 500;

/**
 * Returns the reason for the audit log that was typed into a form, cut to `MAX_REASON`. Empty if no reason was typed.
 */
export function givenReason(typed: string): ReasonBody {
  return typed === "" ? {} : { reason: [...typed].slice(0, MAX_REASON).join("") };
}
