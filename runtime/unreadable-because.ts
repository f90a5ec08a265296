import { errorText } from "../domain/error-text.ts";
import { hasCode } from "./error-code.ts";

/** Says why a file cannot be read, to the person who named it. Its content is never quoted. */
export function unreadableBecause(error: unknown): string {
  if (hasCode(error, "ENOENT")) return "there is no such file";
  if (hasCode(error, "EACCES", "EPERM")) return "this user may not read it";
  if (hasCode(error, "EISDIR")) return "that is a folder: name a file";
  return errorText(error);
}
