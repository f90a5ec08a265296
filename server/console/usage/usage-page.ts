import { type Html, html } from "../../pages/html.ts";
import { searchForm } from "../page-links.ts";
import { MAX_NAME_LENGTH, urlWithQuery } from "../query-text.ts";
import { teamField } from "../team-field.ts";
import type { SeenUsage } from "./see-usage.ts";
import { usagePanel } from "./usage-panel.ts";

/** Content of the page of usage. */
export type UsagePage = {
  readonly usage: SeenUsage;
  readonly team: string;
  /** Name of a model, as answers give it; empty for all. */
  readonly model: string;
  /** Names of teams that the filter offers. */
  readonly teams: readonly string[];
  /** True if the viewer sees the usage of all teams. */
  readonly isOfAll: boolean;
};

const PATH = "/dashboard/usage";

export function usageContent({ usage, team, model, teams, isOfAll }: UsagePage): Html {
  const whose = isOfAll ? "All teams of this installation." : "The teams that you are a member of.";
  const query = { team, model };
  return html`<div class="head"><h1>Usage</h1></div>
<form class="panel" role="search" aria-label="Usage" ${searchForm(PATH)}><input type="hidden" name="usage" value="${usage.range.name}"><div class="filters short">
<div class="field"><label for="model">Model</label><input id="model" name="model" type="search" aria-keyshortcuts="/" value="${model}" placeholder="Any" maxlength="${MAX_NAME_LENGTH}" autocomplete="off" spellcheck="false"></div>
${teamField(team, teams)}<button>Search</button></div></form>
<div id="results" class="stack"><p class="muted">${whose}${
    model !== "" &&
    html` Of answers of <code>${model}</code> alone: <a href="${urlWithQuery(PATH, { team, usage: usage.range.name })}">all models</a>`
  }</p>${usagePanel(usage, { path: PATH, query, team })}</div>`;
}
