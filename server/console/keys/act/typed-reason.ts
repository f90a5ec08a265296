import type { ReasonBody } from "../../../management/request-schemas.ts";

/** As many characters as the management API takes. */
const MAX_REASON = 500;

/** The reason that a form gives for the audit log, as far as there is room for it; none where nothing was typed. */
export function givenReason(typed: string): ReasonBody {
  return typed === "" ? {} : { reason: [...typed].slice(0, MAX_REASON).join("") };
}
