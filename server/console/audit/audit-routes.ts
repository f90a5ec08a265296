import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { countAudit, searchAudit } from "../../../store/audit/audit-search.ts";
import { principalOf } from "../../auth/management/author.ts";
import { managedBodyHolder } from "../../auth/management/body-holder.ts";
import { namesOfEvents } from "../../management/audit/audit-json.ts";
import { auditSearchOf } from "../../management/audit/audit-question.ts";
import { rightsOf, visibleTeams } from "../../management/rights.ts";
import { sendConsolePage } from "../../pages/send-page.ts";
import { viewerOf } from "../../pages/viewer.ts";
import type { ServerDeps } from "../../product/deps.ts";
import { fileNameAt, sendAttachment } from "../attachment.ts";
import { checkSameTeams, type StartExport } from "../exports.ts";
import { offeredTeams } from "../team-field.ts";
import { auditLines } from "./audit-export.ts";
import { AUDIT_CSV, type AuditFormat, JSON_LINES } from "./audit-formats.ts";
import { auditContent } from "./audit-page.ts";
import { readAuditQuery } from "./audit-query.ts";
import { referenceNames } from "./reference-names.ts";

type AuditRequest = { Querystring: Readonly<Record<string, unknown>> };

const PAGE = 50;

/**
 * Serves the audit log. A person with a role in a team may read the team's events, since they may look at what the
 * events are about. Only administrators of the installation may read events that belong to no team.
 */
export function consoleAuditRoutes(app: FastifyInstance, deps: ServerDeps, startExport: StartExport): void {
  const { store, clock, log } = deps;

  app.get<AuditRequest>("/audit", { config: { console: true } }, async (request, reply) => {
    const query = readAuditQuery(request.query);
    const rights = await rightsOf(store.db, principalOf(request));
    const search = await auditSearchOf(store.db, rights, query);
    const found = await searchAudit(store.db, { ...search, after: query.after, limit: PAGE });
    const isWhole = query.after === undefined && found.next === null;
    const page = {
      ...{ ...found, query },
      total: isWhole ? ({ count: found.events.length, is: "exact" } as const) : await countAudit(store.db, search),
      teams: await offeredTeams(store.db, rights),
      names: await namesOfEvents(store.db, found.events, visibleTeams(rights)),
      references: await referenceNames(store.db, found.events, visibleTeams(rights)),
      viewer: viewerOf(request),
      now: clock.now(),
    };
    return sendConsolePage(request, reply, { title: "Audit log", section: "audit", content: auditContent(page) });
  });

  app.get<AuditRequest>("/audit/export", { config: { console: true } }, (request, reply) =>
    sendExport(request, reply, JSON_LINES),
  );

  app.get<AuditRequest>("/audit/export.csv", { config: { console: true } }, (request, reply) =>
    sendExport(request, reply, AUDIT_CSV),
  );

  async function sendExport(
    request: FastifyRequest<AuditRequest>,
    reply: FastifyReply,
    format: AuditFormat,
  ): Promise<FastifyReply> {
    const query = readAuditQuery(request.query);
    const principal = principalOf(request);
    const search = await auditSearchOf(store.db, await rightsOf(store.db, principal), query);
    const lines = startExport({
      actor: principal.actor,
      teamId: managedBodyHolder(deps.index, principal).teamId,
      pieces: auditLines({
        ...{ db: store.db, search, format },
        checkAgain: () => checkSameTeams(deps, request, query.team, search.teamIds),
      }),
    });
    lines.once("error", (error) => log.warn({ error }, "an export of the audit log was aborted"));
    const { type, ending } = format;
    return sendAttachment(reply, { name: fileNameAt("audit", clock.now(), ending), type }, lines);
  }
}
