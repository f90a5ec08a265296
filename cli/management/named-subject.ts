import { UsageError } from "../command/usage-error.ts";

/** @throws UsageError for a token in place of the subject that it names: others can list command lines */
export function refuseToken(subject: string): void {
  if (!/^eyJ[\w-]*\./.test(subject)) return;
  throw new UsageError("that is a token, which belongs on no command line: name the subject that is in it");
}
