import { findCondition, type Gravity, gravityOf, type ReportedCondition } from "../../../domain/conditions.ts";
import { inWords } from "../../management/audit/event-text.ts";
import { type Html, html } from "../../pages/html.ts";
import { type Column, table } from "../../pages/table.ts";
import { moment, withMoments } from "../times.ts";

const TONES: Readonly<Record<Gravity, string>> = { wrong: "bad", "under way": "warn", "in order": "good" };
const ORDER = Object.keys(TONES);
const COLUMNS: readonly Column[] = [["Condition", "named"], ["Status", "whole"], "Message", ["Since", "whole"]];

/**
 * Shows the conditions that a controller reported, those that are wrong first. The panel is open if a condition is
 * wrong, and else a single line. Returns false for what the API made, which no controller looks at.
 *
 * @param now milliseconds since the epoch
 */
export function conditionsPanel(conditions: readonly ReportedCondition[] | undefined, now: number): Html | false {
  if (conditions === undefined || conditions.length === 0) return false;
  const rankOf = (one: ReportedCondition) => ORDER.indexOf(gravityOf(one));
  const inOrder = conditions.toSorted((a, b) => rankOf(a) - rankOf(b));
  const isWrong = inOrder.some((one) => gravityOf(one) === "wrong");
  const rows = inOrder.map((one) => [
    html`${one.type}<small>${inWords(one.reason)}</small>`,
    html`<span class="badge ${TONES[gravityOf(one)]}">${one.status}</span>`,
    withMoments(one.message, now),
    moment(one.lastTransitionTime, now),
  ]);
  return html`<details class="panel" id="conditions"${isWrong && html` open`}><summary>Conditions ${
    conditionsBadge(conditions) || html`<span class="badge good">Ready</span>`
  }</summary>${table("Conditions", COLUMNS, rows)}</details>`;
}

/**
 * Shows the gravest condition as a badge with its reason. Returns false if all is in order.
 *
 * @param said the reasons that the page says already
 */
export function conditionsBadge(
  conditions: readonly ReportedCondition[] | undefined,
  said: ReadonlySet<string> = NONE,
): Html | false {
  if (conditions === undefined) return false;
  const ready = findCondition(conditions, "Ready");
  if (ready !== undefined && said.has(ready.reason)) return false;
  if (ready !== undefined && ready.status !== "True") {
    const gravity = gravityOf(ready);
    const word = gravity === "wrong" ? "Not ready" : "Not ready yet";
    return html`<span class="badge ${TONES[gravity]}">${word}: ${inWords(ready.reason).toLowerCase()}</span>`;
  }
  const wrong = conditions.find((one) => gravityOf(one) === "wrong" && !said.has(one.reason));
  return wrong !== undefined && html`<span class="badge warn">${inWords(wrong.reason)}</span>`;
}

const NONE: ReadonlySet<string> = new Set();

/** Shows {@link conditionsBadge} on a line of its own, so that it makes no table wider. */
export function listedConditions(
  conditions: readonly ReportedCondition[] | undefined,
  said?: ReadonlySet<string>,
): Html | false {
  const badge = conditionsBadge(conditions, said);
  return badge !== false && html`<span class="line">${badge}</span>`;
}
