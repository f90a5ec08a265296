import { limitSpec } from "../../../domain/access/declared-limits.ts";
import type { TeamMember } from "../../../domain/access/team-member.ts";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import type { ReportedCondition } from "../../../domain/conditions.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { BudgetUse } from "../../../store/budgets/read-budgets.ts";
import type { ClusterNames } from "../../../store/objects/cluster-names.ts";
import type { StoredTeam } from "../../../store/objects/objects.ts";
import { ACTIONS, roleAllows } from "../../management/rights.ts";
import { type Content, type Html, html } from "../../pages/html.ts";
import { table } from "../../pages/table.ts";
import { shownBudgets } from "../budgets-text.ts";
import { conditionsBadge, conditionsPanel } from "../conditions/conditions-panel.ts";
import { declarationLocation } from "../declared-in.ts";
import { chips, type Facts, factList } from "../facts.ts";
import { inParts } from "../in-parts.ts";
import { refName } from "../keys/key-words.ts";
import { shownLimits } from "../limits-text.ts";
import { urlWithQuery } from "../query-text.ts";
import { moment } from "../times.ts";
import type { SeenUsage } from "../usage/see-usage.ts";
import { usagePanel } from "../usage/usage-panel.ts";

/** Content of a team's page. */
export type TeamPage = {
  readonly clusters: ClusterNames;
  readonly team: StoredTeam;
  readonly usage: SeenUsage;
  readonly budgets: readonly BudgetUse[];
  /** Conditions; undefined for a team that the API made. */
  readonly conditions: readonly ReportedCondition[] | undefined;
  /** The viewer's role in the team, in words. */
  readonly role: string;
  /** Names of the viewer's roles in the team; empty for those who run the installation. */
  readonly roles: readonly string[];
  /** True if a member entry names the viewer. */
  isViewer(member: TeamMember): boolean;
  /** Id of the default library; undefined if there is none of its name. */
  readonly defaultLibraryId: string | undefined;
  /** True if the viewer sees other teams too. */
  readonly hasOthers: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

const ROLES = ["admin", "member", "viewer"] as const;
const KINDS = { subject: "Person", group: "Group", serviceAccount: "ServiceAccount" } as const;

export function teamContent(page: TeamPage): Html {
  const { team, hasOthers } = page;
  const { name, displayName } = team;
  return html`<div class="head"><div>${hasOthers && html`<p class="crumb"><a href="/dashboard/team">Teams</a></p>`}<h1>${displayName}</h1>${conditionsBadge(page.conditions)}</div><p class="actions">${[
    { title: "Keys", path: "/dashboard/keys" },
    { title: "Libraries", path: "/dashboard/libraries" },
    { title: "Gateways", path: "/dashboard/gateways" },
    { title: "Webhooks", path: "/dashboard/webhooks" },
    { title: "Audit log", path: "/dashboard/audit" },
  ].map(
    ({ title, path }) => html`<a class="button" href="${urlWithQuery(path, { team: name })}">${title}</a>`,
  )}</p></div>
${conditionsPanel(page.conditions, page.now)}
<div class="columns"><div class="stack">
<section class="panel" aria-labelledby="members"><h2 id="members">Members</h2>${members(page)}</section>
<section class="panel" aria-labelledby="bounds"><h2 id="bounds">Limits and budgets</h2>${bounds(page)}</section>
<section class="panel" aria-labelledby="rights"><h2 id="rights">What a role may do</h2>${rights(page)}</section>
</div><div class="stack">
<section class="panel" aria-labelledby="facts"><h2 id="facts">Details</h2>${facts(page)}</section>
<section class="panel" aria-labelledby="managed"><h2 id="managed">Managing this team</h2>${howToChange(team)}</section>
</div></div>
${usagePanel(page.usage, { path: `/dashboard/team/${team.id}`, team: name })}`;
}

const LEAKS: Readonly<Record<StoredTeam["leakAction"], string>> = {
  Alert: "Reported, and work on until they are ended",
  Revoke: "Revoked as soon as they are reported",
};

/** Shows the networks, limits and budgets for all keys of the team. */
function bounds({ team, budgets, now }: TeamPage): Html {
  const limits = team.limits === null ? undefined : limitSpec(team.limits);
  return factList([
    ["Networks", team.allowedCIDRs === null ? "Any" : chips(team.allowedCIDRs)],
    ["Limits", limits === undefined ? "None" : shownLimits(limits)],
    ["Budgets", budgets.length === 0 ? "None" : shownBudgets(budgets, now)],
  ]);
}

function facts({ team, clusters, role, defaultLibraryId, now }: TeamPage): Html {
  const { id, name, namespaces, defaultLibrary, createdAt } = team;
  const rows: Facts = [
    ["Your role", role],
    ["Name", name],
    ["Namespaces", namespaces.length === 0 ? "None" : chips(namespaces)],
    ["Default library", defaultLibrary === null ? "None" : libraryLink(refName(defaultLibrary), defaultLibraryId)],
    ["Leaked keys", LEAKS[team.leakAction]],
    ["Declared in", declarationLocation(team, clusters)],
    ["Created", moment(rfc3339Millis(createdAt.getTime()), now)],
    ["Id", html`<code>${id}</code>`],
  ];
  return factList(rows);
}

function libraryLink(name: string, id: string | undefined): Content {
  if (id !== undefined) return html`<a href="/dashboard/libraries/${id}">${name}</a>`;
  return html`${name} <span class="muted">(there is none of this name yet)</span>`;
}

function members({ team, isViewer }: TeamPage): Html {
  if (team.members.length === 0) {
    return html`<p class="muted">None yet: only administrators of the installation can use what the team has. Name people under <code>spec.members</code>.</p>`;
  }
  const inOrder = team.members.toSorted((a, b) => ROLES.indexOf(a.role) - ROLES.indexOf(b.role));
  const rows = inOrder.map((member) => {
    const { role, kind, value, libraryRefs } = member;
    const you = isViewer(member) && html` <span class="badge good">You</span>`;
    const reach = libraryRefs === undefined ? "All" : libraryRefs.map(refName).join(", ");
    return [role, html`${inParts(value)}${you}`, KINDS[kind] ?? kind, reach];
  });
  return table("Members", [["Role", "whole"], "Who", ["Named by", "whole"], "Libraries by sign-in"], rows);
}

function rights({ roles }: TeamPage): Html {
  const yes = html`<span class="yes">Yes</span>`;
  const no = html`<span class="muted">No</span>`;
  return html`<table class="matrix" aria-label="What a role may do"><thead><tr><th scope="col">May</th>${ROLES.map(
    (role) => html`<th scope="col">${role}${roles.includes(role) && " (you)"}</th>`,
  )}</tr></thead><tbody><tr><th scope="row">look at all of it</th>${ROLES.map(() => html`<td>${yes}</td>`)}</tr>${ACTIONS.map(
    (action) =>
      html`<tr><th scope="row">${action}</th>${ROLES.map((role) => html`<td>${roleAllows(role, action) ? yes : no}</td>`)}</tr>`,
  )}</tbody></table>`;
}

function howToChange(team: StoredTeam): Html {
  const { id, cluster, name } = team;
  const where =
    cluster === API_CLUSTER
      ? html`<p>It was made by the API. Its admins change its members there: <code>PUT /api/v1/teams/${id}</code>.</p>`
      : html`<p>It is declared as PlatformTeam <strong>${name}</strong> in <strong>${cluster}</strong>, and is changed there. Who is taken out of its members loses the console and the API with the next request.</p>`;
  return html`${where}
<h3 class="label">Ending a person's access</h3>
<p>Take them out of the members, and of the issuer's groups. Then end what they hold: their tokens and sessions in this team by <code>keyplane revoke-subject SUBJECT --team ${name}</code>, which names the keys that they made and that still work, and their sessions in all teams by <code>keyplane end-sessions SUBJECT</code>.</p>`;
}
