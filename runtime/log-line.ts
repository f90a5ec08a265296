/** Writes one line of the controller's log, with names and prefixes only. */
export type LogLine = (
  level: "info" | "warn" | "error",
  message: string,
  fields?: Record<string, string | number>,
) => void;
