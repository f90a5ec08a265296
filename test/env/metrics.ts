import { readFileSync } from "node:fs";
import { join } from "node:path";

const REFERENCE = join(import.meta.dirname, "../../docs/reference/metrics.md");

/** The names of the metrics that docs/reference/metrics.md has. */
export function documentedMetrics(): ReadonlySet<string> {
  return new Set([...readFileSync(REFERENCE, "utf8").matchAll(/^\| `(\w+)` \|/gm)].map(([, name = ""]) => name));
}

/**
 * The metrics that a `/metrics` has and the reference lacks; those of the process itself are the client library's.
 *
 * @param text as Prometheus reads it
 */
export function undocumentedMetrics(text: string): string[] {
  const names = [...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name = ""]) => name);
  if (names.length === 0) throw new Error("there is no metric");
  const documented = documentedMetrics();
  return names.filter((name) => !/^(process|nodejs)_/.test(name) && !documented.has(name));
}
