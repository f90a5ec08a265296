import { Environment } from "@marcbachmann/cel-js";

/** Names of time zones that are three capitals. Others, such as BST, are abbreviations that stand for several. */
const SHORT_ZONES: ReadonlySet<string> = new Set("CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET".split(" "));

/** A compiled rule, which returns its value. */
export type RuleProgram = (context: Record<string, unknown>) => unknown;

/**
 * Compiles a CEL rule as the API server understands it. Kubernetes escapes fields whose names CEL reserves with
 * underscores; our interpreter does not. Two of its own functions, which cannot be replaced under their names, differ:
 * `timestamp` refuses a text of more than 30 characters, and `getHours` takes abbreviations for time zones.
 */
export function compileRule(rule: string): RuleProgram {
  const text = rule
    .replace(/\b__([a-z]+)__\b/g, "$1")
    .replace(/\btimestamp\(/g, "timeOf(")
    .replace(/\.getHours\(/g, ".hourIn(");
  return new Environment({ unlistedVariablesAreDyn: true })
    .registerFunction("timeOf(string): google.protobuf.Timestamp", (time: string) => new Date(time))
    .registerFunction("google.protobuf.Timestamp.hourIn(string): int", hourIn)
    .parse(text);
}

/** @throws RangeError for a time zone that is none */
function hourIn(time: Date, timeZone: string): bigint {
  if (/^[A-Z]{3}$/.test(timeZone) && !SHORT_ZONES.has(timeZone)) throw new RangeError("no name of a time zone");
  return BigInt(new Intl.DateTimeFormat("en", { timeZone, hour: "numeric", hourCycle: "h23" }).format(time));
}
