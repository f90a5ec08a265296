import { addFigures, type TokenFigures } from "../../../domain/usage/token-count.ts";
import type { ModelTokens } from "../../../store/keys/token-counts.ts";
import { type Html, html } from "../../pages/html.ts";
import { type Column, table } from "../../pages/table.ts";

const COLUMNS: readonly Column[] = [
  "Model",
  "Answers",
  "Input",
  "Cached",
  "Cache writes",
  "Output",
  "Reasoning",
  "Tool calls",
];

const SHORT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** What a key used of each model within the last day; nothing for a key that no model answered. */
export function tokensContent(models: readonly ModelTokens[]): Html | string {
  if (models.length === 0) return "";
  const rows = models.map(({ model, figures }) => [
    html`<code>${model}</code>`,
    ...[
      ...[figures.calls, figures.input, figures.cached, figures.cache_write_5m + figures.cache_write_1h],
      ...[figures.output, figures.reasoning, figures.tool_calls],
    ].map((count) => SHORT.format(count)),
  ]);
  const gaps = gapsOf(models.map(({ figures }) => figures).reduce(addFigures));
  return html`<section class="panel" aria-labelledby="tokens"><h2 id="tokens">Tokens of the last day</h2>${table("Tokens by model", COLUMNS, rows)}
<p class="muted small">As the models' answers reported them; no column is part of another.${gaps.length > 0 && ` Of the answers ${gaps.join("; ")}.`}</p></section>`;
}

/** What of the answers the numbers lack. */
function gapsOf({ cut, unreported, unread, doubtful }: TokenFigures): string[] {
  return (
    [
      [cut, "ended early, and count what was seen"],
      [unreported, "reported no usage"],
      [unread, "came in a coding that is not read"],
      [doubtful, "reported what cannot be"],
    ] as const
  ).flatMap(([count, what]) => (count === 0 ? [] : [`${count.toLocaleString("en-US")} ${what}`]));
}
