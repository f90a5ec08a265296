import type { FastifyInstance } from "fastify";
import type { TeamMember } from "../../../domain/access/team-member.ts";
import { readBudgetsOfTeams, readTeamBudgets } from "../../../store/budgets/read-budgets.ts";
import { clusterNames } from "../../../store/objects/cluster-names.ts";
import { readConditions } from "../../../store/objects/object-conditions.ts";
import { findActiveObject, listObjects, type StoredTeam } from "../../../store/objects/objects.ts";
import { principalOf } from "../../auth/management/author.ts";
import type { Principal } from "../../auth/principal.ts";
import type { Management } from "../../management/context.ts";
import { pageOf } from "../../management/paging.ts";
import { requestedTeams } from "../../management/requested-teams.ts";
import { type Rights, rightsOf, visibleTeams } from "../../management/rights.ts";
import { sendConsolePage } from "../../pages/send-page.ts";
import { queryText, readAfterId } from "../query-text.ts";
import { seeObject } from "../seen-object.ts";
import { seeUsage } from "../usage/see-usage.ts";
import { usageRange } from "../usage/usage-ranges.ts";
import { teamContent } from "./team-page.ts";
import { teamsContent } from "./teams-page.ts";

const PAGE = 50;

/** Serves the viewer's teams: their members, and what each may do. */
export function teamRoutes(app: FastifyInstance, { store, clock, prices }: Management): void {
  app.get<{ Querystring: Readonly<Record<string, unknown>> }>(
    "/team",
    { config: { console: true } },
    async (request, reply) => {
      const query = { team: queryText(request.query.team), afterId: readAfterId(request.query.after) };
      const rights = await rightsOf(store.db, principalOf(request));
      const [only, ...others] = visibleTeams(rights) ?? [];
      // Most people are in one team.
      if (only !== undefined && others.length === 0) return reply.redirect(`/dashboard/team/${only}`, 303);
      const teamIds = await requestedTeams(store.db, rights, query.team);
      const found = await listObjects(store.db, "team", { teamIds, afterId: query.afterId, limit: PAGE + 1 });
      const { items: shown, nextCursor: nextId } = pageOf(found, PAGE);
      const list = {
        ...{ query, nextId },
        clusters: await clusterNames(store.db),
        teams: shown.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        budgets: await readBudgetsOfTeams(store.db, shown, clock.now()),
        conditions: await readConditions(
          store.db,
          "team",
          shown.map(({ id }) => id),
        ),
        seesAll: typeof rights === "string",
        roleIn: (teamId: string) => roleInWords(rights, teamId),
        now: clock.now(),
      };
      return sendConsolePage(request, reply, { title: "Teams", section: "team", content: teamsContent(list) });
    },
  );

  app.get<{ Params: { id: string }; Querystring: Readonly<Record<string, unknown>> }>(
    "/team/:id",
    { config: { console: true } },
    async (request, reply) => {
      const principal = principalOf(request);
      const rights = await rightsOf(store.db, principal);
      const team = await seeObject(store.db, "team", rights, request.params.id);
      const used = { teamIds: [team.id], prices: prices.current() };
      const page = {
        team,
        clusters: await clusterNames(store.db),
        usage: await seeUsage(store.db, clock.now(), usageRange(request.query.usage), used, ["key", "model"]),
        conditions: (await readConditions(store.db, "team", [team.id])).get(team.id),
        budgets: await readTeamBudgets(store.db, team, clock.now()),
        role: roleInWords(rights, team.id),
        roles: typeof rights === "string" ? [] : (rights.get(team.id) ?? []),
        isViewer: (member: TeamMember) => isNamed(principal, member),
        defaultLibraryId: await defaultLibraryOf(team),
        hasOthers: visibleTeams(rights)?.length !== 1,
        now: clock.now(),
      };
      return sendConsolePage(request, reply, { title: team.displayName, section: "team", content: teamContent(page) });
    },
  );

  async function defaultLibraryOf({ id: teamId, cluster, defaultLibrary }: StoredTeam): Promise<string | undefined> {
    if (defaultLibrary === null) return undefined;
    return (await findActiveObject(store.db, "library", { cluster, teamId, ...defaultLibrary }))?.id;
  }
}

function roleInWords(rights: Rights, teamId: string): string {
  return typeof rights === "string"
    ? "Administrator of this installation"
    : [...new Set(rights.get(teamId))].join(", ");
}

function isNamed({ as }: Principal, { kind, value }: TeamMember): boolean {
  if (typeof as === "string") return false;
  if (kind === "group") return as.groups.includes(value);
  return value === (kind === "subject" ? as.subject : as.serviceAccount);
}
