import { UsageError } from "../command/usage-error.ts";

/**
 * Refuses a token that is given in place of a subject: others can list command lines.
 *
 * @throws UsageError
 */
export function refuseToken(subject: string): void {
  if (!/^eyJ[\w-]*\./.test(subject)) return;
  throw new UsageError("that is a token, which belongs on no command line: name the subject that is in it");
}
