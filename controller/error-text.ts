import { redactKeys } from "../domain/redact.ts";

/** The longest that people are shown of an error's message. */
const MAX_LENGTH = 300;

/** What a log line, an event or a status may say of an error: its first line, without anything that may be a key. */
export function errorText(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return redactKeys(line).slice(0, MAX_LENGTH);
}
