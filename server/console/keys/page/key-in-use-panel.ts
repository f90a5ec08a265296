import type { LastUse } from "../../../../domain/key/stored/known-usage.ts";
import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import type { KeyRefusals } from "../../../../store/audit/key-refusals.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { type Html, html } from "../../../pages/html.ts";
import { table } from "../../../pages/table.ts";
import { auditUrl } from "../../audit/audit-query.ts";
import { numeral } from "../../column-chart.ts";
import { causeAdvice, causeText } from "../../refusals/cause-words.ts";
import { type RefusingBudgets, refusedUntil } from "../../refusals/refused-until.ts";
import { ago, moment } from "../../times.ts";

/** Lists old versions that still work: until when, and the last known use of each. Empty if there are none. */
export function oldVersionsInUse({ versions }: KeyJson, lastUses: readonly LastUse[], now: number): Html | string {
  const old = versions.filter(({ state }) => state === "retiring");
  if (old.length === 0) return "";
  const lines = old.map(({ number, prefix, retiresAt }) => {
    const use = lastUses.find(({ version }) => version === number);
    return html`<li>Version ${number} (<code>${prefix}</code>) works ${retiresAt === null ? "on" : html`until ${moment(retiresAt, now)}`}; ${useOf(use, now)}.</li>`;
  });
  return html`<h3 class="label">Old versions that still work</h3><ul>${lines}</ul><p class="hint">As of some ten seconds ago.</p>`;
}

/** Describes when a version was last used, and from where and by what program as far as that is known. */
export function useOf(use: LastUse | undefined, now: number): Html | string {
  if (use === undefined) return "no use of it is known";
  const { at, address, userAgent } = use;
  return html`last used ${ago(rfc3339Millis(at), now)}${address !== null && html` from ${address}`}${userAgent !== null && html` by ${userAgent}`}`;
}

/** Shows the requests with the key that were refused within the last day, by cause. */
export function refusedLately(
  refusals: readonly KeyRefusals[],
  { id: keyId, teamId }: Pick<KeyJson, "id" | "teamId">,
  budgets: RefusingBudgets,
  now: number,
): Html {
  if (refusals.length === 0) return html`<p class="muted">None within the last day.</p>`;
  const rows = refusals.map(({ cause, count, lastAt, until }) => [
    causeText(cause),
    html`${refusedUntil({ keyId, teamId, cause, lastAt, until }, budgets, now)}${causeAdvice(cause)}`,
    numeral(count),
    ago(rfc3339Millis(lastAt), now),
  ]);
  return html`${table(
    "Recent errors",
    [
      ["Cause", "whole"],
      ["What to do", "named"],
      ["Requests", "number"],
      ["Last", "whole"],
    ],
    rows,
  )}<p class="muted small">Of the last day, as the audit log has them: of very many at once a sample, a minute behind. <a href="${auditUrl({ about: keyId, action: "request.refused" }, "/dashboard/audit")}">Audit log</a></p>`;
}
