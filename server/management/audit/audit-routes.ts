import type { FastifyInstance } from "fastify";
import { searchedText } from "../../../domain/key/secret/searched-text.ts";
import { suggestion } from "../../../domain/manifest/document/suggestion.ts";
import { type AuditFeedPage, readAuditFeed, UnknownAuditMarkError } from "../../../store/audit/audit-feed.ts";
import { searchAudit } from "../../../store/audit/audit-search.ts";
import { principalOf } from "../../auth/management/author.ts";
import { problem } from "../../http/problems/problem.ts";
import type { Management } from "../context.ts";
import { managedRoute } from "../managed-route.ts";
import { MOMENT, NAME, PAGE, type PageQuery, readMoment } from "../request-schemas.ts";
import { requestedTeams } from "../requested-teams.ts";
import { closedObject, pageSchema, TEXT, TIMESTAMP } from "../response-schemas.ts";
import { rightsOf } from "../rights.ts";
import { auditJson } from "./audit-json.ts";
import { auditSearchOf, cursorOf, MAX_ACTOR_LENGTH, markOf, readAuditCursor, readAuditMark } from "./audit-question.ts";
import { EVENT_TITLES } from "./event-text.ts";

/**
 * Reads a page of the feed of the log. @throws Problem `invalid_request` for a position that the database does not have
 */
async function readFeed(...args: Parameters<typeof readAuditFeed>): Promise<AuditFeedPage> {
  try {
    return await readAuditFeed(...args);
  } catch (error) {
    if (!(error instanceof UnknownAuditMarkError)) throw error;
    throw problem(
      "invalid_request",
      "The database was put back in time since this place: begin at 0, and leave out what you have by id and time.",
    );
  }
}

const NO_TEAM = problem("invalid_request", "There is no such team, or you have no role in it.");

const TEXT_OR_NULL = { type: ["string", "null"] } as const;

const EVENT = closedObject("AuditEvent", {
  id: { type: "integer" },
  at: TIMESTAMP,
  action: { ...TEXT, description: "As key.revoked." },
  actor: { ...TEXT, description: "Who did it, as they were authenticated." },
  teamId: TEXT_OR_NULL,
  team: { ...TEXT_OR_NULL, description: "The team's name; null for none, and for one that is gone." },
  keyId: TEXT_OR_NULL,
  namespace: { ...TEXT_OR_NULL, description: "Of what it is about." },
  name: { ...TEXT_OR_NULL, description: "Of what it is about; null where it is about none." },
  detail: { type: "object", description: "What has changed, from where and why. Never a secret." },
});

const QUERY = {
  type: "object",
  additionalProperties: false,
  properties: {
    ...PAGE,
    team: { ...NAME, description: "A team's name or id." },
    actor: { ...NAME, maxLength: MAX_ACTOR_LENGTH },
    action: { ...NAME, description: "As key.revoked." },
    about: { ...NAME, description: "An id, a name, or the first 12 characters of a key." },
    after: {
      type: "string",
      pattern: "^(0|[0-9]{1,15}-[0-9]{1,10})$",
      description:
        "From the oldest event on: 0 to begin, then nextCursor of the page before, which is never null. Goes with team and limit alone.",
    },
    from: { ...MOMENT, description: "From then on, RFC 3339." },
    to: { ...MOMENT, description: "Before then, RFC 3339." },
  },
} as const;
type Query = PageQuery & {
  readonly [K in "team" | "actor" | "action" | "about" | "from" | "to" | "after"]?: string;
};

/**
 * Serves the audit log. A caller with a role in a team may read the team's events, since they may look at what the
 * events are about. Only those who run the installation may read events that belong to no team.
 */
export function auditRoutes(app: FastifyInstance, { store }: Management): void {
  app.get<{ Querystring: Query }>(
    "/audit-events",
    {
      config: managedRoute({
        summary:
          "Search the audit log, the latest first, or with after from the oldest on: a page may hold fewer than limit and have a successor",
        response: pageSchema(EVENT),
      }),
      schema: { querystring: QUERY },
    },
    async (request) => {
      const { limit, cursor, team = "", actor = "", action = "", about = "", from, to, after: mark } = request.query;
      const rights = await rightsOf(store.db, principalOf(request));
      if (mark !== undefined) {
        if ([cursor, from, to].some((given) => given !== undefined) || `${actor}${action}${about}` !== "") {
          throw problem("invalid_request", "after goes with team and limit alone.");
        }
        const teamIds = await requestedTeams(store.db, rights, team);
        // An empty page would pass events that the caller may read once the team is theirs again (threats b432).
        if (teamIds?.length === 0) throw NO_TEAM;
        const { events, next } = await readFeed(store.db, readAuditMark(mark), limit, teamIds);
        return { items: await auditJson(store.db, events, teamIds), nextCursor: markOf(next) };
      }
      const search = await auditSearchOf(store.db, rights, {
        ...{ team, actor, action, from: readMoment(from), to: readMoment(to) },
        // Shortens a whole key to its prefix.
        about: searchedText(about),
      });
      if (team !== "" && search.teamIds?.length === 0) throw NO_TEAM;
      const after = cursor === undefined ? undefined : readAuditCursor(cursor);
      const { events, next } = await searchAudit(store.db, { ...search, after, limit });
      // Another version may have written actions that this one does not know.
      if (events.length === 0 && action !== "" && !Object.hasOwn(EVENT_TITLES, action)) {
        const step = suggestion(action, Object.keys(EVENT_TITLES));
        throw problem("invalid_request", `There is no such action: ${step}`);
      }
      const items = await auditJson(store.db, events, search.teamIds);
      return { items, nextCursor: next === null ? null : cursorOf(next) };
    },
  );
}
