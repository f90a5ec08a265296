import type { Db } from "../../store/database/change.ts";
import { listObjects } from "../../store/objects/objects.ts";
import { type Rights, visibleTeams } from "../management/rights.ts";
import { type Html, html } from "../pages/html.ts";

/** Names of teams that a page offers; any other can be written. */
const OFFERED_TEAMS = 200;

/** Names of teams for a filter to offer. */
export async function offeredTeams(db: Db, rights: Rights): Promise<string[]> {
  const teams = await listObjects(db, "team", { teamIds: visibleTeams(rights), limit: OFFERED_TEAMS });
  return teams.map(({ name }) => name).sort();
}

/** A filter's field for a team. */
export function teamField(team: string, teams: readonly string[]): Html {
  return html`<div class="field"><label for="team">Team</label>
<input id="team" name="team" value="${team}" list="teams" placeholder="Any" maxlength="253" autocomplete="off">
<datalist id="teams">${teams.map((name) => html`<option value="${name}"></option>`)}</datalist></div>`;
}
