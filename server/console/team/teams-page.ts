import type { BudgetUse, UsesByOwner } from "../../../store/budgets/read-budgets.ts";
import type { ClusterNames } from "../../../store/objects/cluster-names.ts";
import type { ConditionsById } from "../../../store/objects/object-conditions.ts";
import type { StoredTeam } from "../../../store/objects/objects.ts";
import { type Content, type Html, html } from "../../pages/html.ts";
import { type Column, table } from "../../pages/table.ts";
import { listedBudgets } from "../budgets-text.ts";
import { listedConditions } from "../conditions/conditions-panel.ts";
import { declarationLocation, locationBadge } from "../declared-in.ts";
import { countOnPage, foot, searchForm } from "../page-links.ts";
import { urlWithQuery } from "../query-text.ts";

/** Query of the list of teams. */
export type TeamsQuery = { readonly team: string; readonly afterId: string | undefined };

export type TeamList = {
  readonly clusters: ClusterNames;
  readonly query: TeamsQuery;
  readonly teams: readonly StoredTeam[];
  /** Id of the last team on this page; null on the last page. */
  readonly nextId: string | null;
  /** Budgets by the ids of the teams. */
  readonly budgets: UsesByOwner;
  readonly conditions: ConditionsById;
  /** True if the viewer runs the installation, and so sees all teams without being in one. */
  readonly seesAll: boolean;
  /** Returns the viewer's role in a team, in words. */
  roleIn(teamId: string): string;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

const PATH = "/dashboard/team";
const COLUMNS: readonly Column[] = [
  ["Team", "named"],
  "Your role",
  ["Members", "number"],
  ["Budgets", "named"],
  "Namespaces",
  "Declared in",
];

export function teamsContent(list: TeamList): Html {
  const { query, teams, nextId } = list;
  const url = (afterId: string | undefined) => urlWithQuery(PATH, { team: query.team, after: afterId ?? "" });
  return html`<div class="head"><h1>Teams</h1></div>
<form class="panel" role="search" aria-label="Teams" ${searchForm(PATH)}><div class="filters short"><div class="field"><label for="team">Team</label><input id="team" name="team" type="search" aria-keyshortcuts="/" value="${query.team}" placeholder="A whole name, or an id" maxlength="253" autocomplete="off"></div><button>Search</button></div></form>
<div id="results" class="panel flush">${teams.length === 0 ? nothing(list) : teamTable(list)}${
    teams.length > 0 &&
    foot({
      said: countOnPage(teams.length, "team", "teams"),
      first: query.afterId && url(undefined),
      next: nextId === null ? undefined : url(nextId),
      isPartial: false,
    })
  }</div>`;
}

function teamTable({ teams, roleIn, budgets, conditions, clusters, now }: TeamList): Html {
  const rows = teams.map((team) => {
    const { id, name, displayName, members, namespaces } = team;
    return [
      html`<a href="${PATH}/${id}">${name}</a>${displayName !== name && html`<small>${displayName}</small>`}${listedConditions(conditions.get(id))}`,
      roleIn(id),
      members.length === 0 ? html`<span class="muted">None</span>` : members.length,
      budgetsIn(budgets.get(id), now),
      namespacesOf(namespaces),
      locationBadge(declarationLocation(team, clusters)),
    ];
  });
  return table("Teams", COLUMNS, rows);
}

function budgetsIn(uses: readonly BudgetUse[] | undefined, now: number): Content {
  return uses === undefined || uses.length === 0 ? html`<span class="muted">None</span>` : listedBudgets(uses, now);
}

function namespacesOf(namespaces: readonly string[]): Content {
  if (namespaces.length === 0) return html`<span class="muted">None</span>`;
  const [shown, more] = [namespaces.slice(0, 5), namespaces.length - 5];
  return html`<span class="chips">${shown.map((namespace) => html`<span class="chip">${namespace}</span>`)}${more > 0 && html`<span class="muted small">and ${more} more</span>`}</span>`;
}

function nothing({ query: { team, afterId }, seesAll }: TeamList): Html {
  if (team !== "" || afterId !== undefined) {
    return html`<div class="empty"><h2>No team matches</h2><p class="muted">Write a team's whole name, or its id.</p><a class="button" href="${PATH}">Show all teams</a></div>`;
  }
  if (seesAll) {
    return html`<div class="empty"><h2>No teams yet</h2><p class="muted">Keys, libraries and gateways are a team's. Declare a PlatformTeam, or make one by the API: <code>POST /api/v1/teams</code>.</p></div>`;
  }
  return html`<div class="empty"><h2>You are in no team yet</h2><p class="muted">Keys, libraries and gateways are a team's. Ask its admin to name you, or one of your groups, among the members of its PlatformTeam; what is declared there holds with your next page.</p></div>`;
}
