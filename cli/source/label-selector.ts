/** Selector of `-l`, in kubectl's syntax: `app=web`, `tier in (a, b)`, `!old`, separated by commas. */
import { isLabelName, isLabelValue, type Labels } from "../../domain/manifest/document/labels.ts";
import { UsageError } from "../command/usage-error.ts";

export type LabelSelector = {
  /** Selector as given, which the API server reads too. */
  readonly text: string;
  matches(labels: Labels): boolean;
};

type Requirement = (labels: Labels) => boolean;

/**
 * Parses a selector.
 *
 * @returns undefined if none is given
 * @throws UsageError for an invalid selector
 */
export function parseLabelSelector(text: string | undefined): LabelSelector | undefined {
  if (text === undefined) return undefined;
  // Commas within brackets separate values.
  const requirements = text.split(/,(?![^(]*\))/).map((part) => parseRequirement(part.trim(), text));
  return { text, matches: (labels) => requirements.every((isMet) => isMet(labels)) };
}

function parseRequirement(part: string, text: string): Requirement {
  const [, not, presentName = "", name = presentName, operator, value = "", set, list = ""] =
    /^(?:(!?)\s*([^\s=!,()]+)|([^\s=!,()]+)\s*(?:(==?|!=)\s*([^\s=!,()]*)|\s(in|notin)\s*\(([^()]*)\)))$/.exec(part) ??
    [];
  const values = set === undefined ? [value] : list.split(",").map((one) => one.trim());
  if (!isLabelName(name) || !values.every(isLabelValue)) {
    throw new UsageError(
      `-l ${JSON.stringify(text)}: write label selectors as kubectl takes them, such as app=web, tier!=test, "tier in (a,b)", app or "!app", separated by commas`,
    );
  }
  if (operator === undefined && set === undefined) return (labels) => Object.hasOwn(labels, name) !== (not === "!");
  const isExcluding = operator === "!=" || set === "notin";
  return (labels) => (Object.hasOwn(labels, name) && values.includes(labels[name] ?? "")) !== isExcluding;
}
