import type { Db } from "../../store/database/change.ts";
import { offeredNames, offeredTeamRows } from "../../store/teams/team-names.ts";
import { type Rights, visibleTeams } from "../management/rights.ts";
import { type Html, html } from "../pages/html.ts";

/** Names of teams for a filter to offer. */
export async function offeredTeams(db: Db, rights: Rights): Promise<string[]> {
  const { rows } = await offeredTeamRows(visibleTeams(rights)).execute(db);
  return offeredNames(rows);
}

/** A filter's field for a team. */
export function teamField(team: string, teams: readonly string[]): Html {
  return html`<div class="field"><label for="team">Team</label>
<input id="team" name="team" value="${team}" list="teams" placeholder="Any" maxlength="253" autocomplete="off">
<datalist id="teams">${teams.map((name) => html`<option value="${name}"></option>`)}</datalist></div>`;
}
