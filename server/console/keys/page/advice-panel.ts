import type { AdviceJson } from "../../../management/keys/access/key-advice.ts";
import { type Html, html } from "../../../pages/html.ts";
import { type Column, table } from "../../../pages/table.ts";
import { withMoments } from "../../times.ts";

const COLUMNS: readonly Column[] = [["Field", "whole"], "Would have been enough", "Why"];

/** Shows the access that would have been enough for a key, as a table and as a manifest to be reviewed. */
export function advicePanel({ isUnused, lacks, points, manifest }: AdviceJson, now: number): Html {
  return html`<section class="panel" aria-labelledby="advice-title"><h2 id="advice-title">Advice</h2>${
    lacks === null
      ? isUnused
        ? UNUSED
        : used(points, manifest)
      : html`<p class="muted">${withMoments(lacks, now)}</p>`
  }</section>`;
}

const UNUSED = html`<p>Not used within 30 days. Is it needed? Suspend it first, or remove it where it is declared.</p>`;

function used(points: AdviceJson["points"], manifest: string): Html {
  const rows = points.map(({ field, change, why }) => {
    const changed = Object.entries(change).filter(([, value]) => value !== null);
    return [
      html`<code>${field}</code>`,
      changed.length === 0
        ? "As it is"
        : changed.map(([name, value]) => html`<code class="line">${name}: ${JSON.stringify(value)}</code>`),
      why,
    ];
  });
  return html`<p class="muted">What would have been enough for its use of the last 30 days. Rare uses may lie outside of them, and nothing is changed by itself: review it, and see what it does with <code>keyplane plan</code>.</p>
${table("Advice", COLUMNS, rows, "reference")}
<pre id="advised" tabindex="0" aria-label="The manifest to review">${manifest}</pre>
<p class="actions"><button type="button" hidden data-copy="advised">Copy YAML</button></p>`;
}
