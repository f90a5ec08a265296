/** Findings out of the judgements of a proxy's answers. Pure. */
import { sanitizeUntrusted } from "../../../domain/redact.ts";
import { type Finding, type FindingName, NOT_CHECKED, note, ok } from "../finding.ts";
import type { Judgement } from "./judge.ts";
import { MISTAKES, type Mistake, type RecipeProxy } from "./mistakes.ts";

/** Findings that answers are judged under, in the order in which they are shown. */
const NAMES: readonly FindingName[] = [
  "proxy-keys",
  "proxy-requests",
  "proxy-answers",
  "proxy-bodies",
  "proxy-service",
];

/** Returns the finding of a mistake, with the remedy at the proxy. @param proxy undefined if it is not known */
export function mistaken(mistake: Mistake, what: string, proxy: RecipeProxy | undefined): Finding {
  const { finding: name, severity, at } = MISTAKES[mistake];
  const isAlike = at.nginx === at.envoy && at.nginx === at.caddy;
  const action =
    proxy !== undefined ? at[proxy] : isAlike ? at.nginx : `compare it with a recipe; at nginx: ${at.nginx}`;
  return { name, severity, message: sanitizeUntrusted(what, MAX_MESSAGE), action };
}

const MAX_MESSAGE = 1_000;

/**
 * Groups judgements: one finding for what is in order, one for each mistake, and one for each reason why something was
 * not checked.
 */
export function proxyFindings(judgements: readonly Judgement[], proxy: RecipeProxy | undefined): Finding[] {
  const findings = [
    ...[...Map.groupBy(judgements.filter(isFine), ({ of }) => of)].map(([of, each]) => ok(of, joined(each, "; "))),
    ...[...Map.groupBy(judgements.filter(isMistake), (each) => each.mistake)].map(([which, each]) =>
      mistaken(which, joined(each, "; "), proxy),
    ),
    ...[...Map.groupBy(judgements.filter(isUnchecked), ({ of, because }) => `${of} ${because}`).values()].flatMap(
      (each) => {
        const [{ of, because } = { of: NAMES[0], because: "" }] = each;
        const message = `${NOT_CHECKED}${joined(each, ", ")}, because ${because}`;
        return of === undefined ? [] : [note(of, sanitizeUntrusted(message, MAX_MESSAGE))];
      },
    ),
  ];
  const isWrong = (name: FindingName) => findings.some((each) => each.name === name && each.severity === "error");
  return NAMES.flatMap((name) =>
    findings.filter((each) => each.name === name && !(each.severity === "ok" && isWrong(name))),
  );
}

type Of<Is extends Judgement["is"]> = Extract<Judgement, { readonly is: Is }>;

const isFine = (each: Judgement): each is Of<"fine"> => each.is === "fine";
const isMistake = (each: Judgement): each is Of<"mistake"> => each.is === "mistake";
const isUnchecked = (each: Judgement): each is Of<"unchecked"> => each.is === "unchecked";

function joined(judgements: readonly Judgement[], by: string): string {
  return [...new Set(judgements.map(({ what }) => what))].join(by);
}
