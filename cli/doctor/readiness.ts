import { connectionErrorText } from "../../domain/error-text.ts";
import { sanitizeUntrusted } from "../../domain/redact.ts";
import { type Finding, ok, wrong } from "./finding.ts";

/** Longest wait for an answer. Milliseconds. */
export const TIMEOUT_MS = 5_000;

/**
 * Checks that a server reports itself as ready for work.
 *
 * @param adminUrl URL of its admin listener
 */
export async function checkReadiness(adminUrl: string): Promise<Finding> {
  try {
    const answer = await fetch(`${adminUrl}/readyz`, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (answer.ok) return ok("readiness", "the server is ready: its view of the keys is current");
    const why = sanitizeUntrusted((await answer.text()).trim(), 200);
    return wrong("readiness", `the server is not ready: ${why}`, "look at the server's log, and at the database");
  } catch (error) {
    const step = "start the server again, and see that nothing else has its ports";
    return wrong("readiness", `nothing answers at ${adminUrl} (${connectionErrorText(error)})`, step);
  }
}
