import type { Db } from "../../store/database/change.ts";
import { offeredNames, offeredTeamRows } from "../../store/teams/team-names.ts";
import { type Rights, visibleTeams } from "../management/rights.ts";
import { type Html, html } from "../pages/html.ts";

/** Reads the names of teams that a filter offers. */
export async function offeredTeams(db: Db, rights: Rights): Promise<string[]> {
  const { rows } = await offeredTeamRows(visibleTeams(rights)).execute(db);
  return offeredNames(rows);
}

/**
 * Renders a filter's field for a team.
 *
 * @param label `unseen` if its placeholder is enough
 */
export function teamField(team: string, teams: readonly string[], label: "seen" | "unseen" = "seen"): Html {
  return html`<div class="field"><label for="team"${label === "unseen" && html` class="unseen"`}>Team</label>
<input id="team" name="team" value="${team}" list="teams" placeholder="Any team" maxlength="253" autocomplete="off">
<datalist id="teams">${teams.map((name) => html`<option value="${name}"></option>`)}</datalist></div>`;
}
