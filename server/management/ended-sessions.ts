import type { FastifyInstance } from "fastify";
import { appendAudit } from "../../store/audit/audit.ts";
import { commitChange } from "../../store/database/change.ts";
import { endSessionsByLink, endSessionsOf } from "../../store/sessions/sessions.ts";
import { requireSessionStill } from "../auth/management/principal-now.ts";
import { LINK_ACTOR } from "../auth/session/authenticate-session.ts";
import type { ServerConfig } from "../context/config.ts";
import { changeContextOf } from "./change-context.ts";
import type { Management } from "./context.ts";
import { managedRoute } from "./managed-route.ts";
import { assertSubject, SUBJECT } from "./named-subject.ts";
import { REASON, type ReasonBody } from "./request-schemas.ts";
import { closedObject } from "./response-schemas.ts";
import { requireInstallation } from "./rights.ts";

type Body = ReasonBody & { subject: string };

const BODY = {
  type: "object",
  additionalProperties: false,
  required: ["subject"],
  properties: { subject: SUBJECT, reason: REASON },
} as const;

const ENDED = closedObject("EndedSessions", {
  ended: { type: "integer", description: "How many there were: each is refused by every replica from now on." },
});

/** Answer, as programs read it. */
export type EndedSessions = { readonly ended: number };

/** Serves the end of a subject's console sessions in all teams, by hand and at once (docs/decisions/console.md). */
export function endedSessionRoutes(
  app: FastifyInstance,
  management: Management,
  { oidc }: Pick<ServerConfig, "oidc">,
): void {
  const issuers = oidc?.issuers ?? [];
  app.post<{ Body: Body }>(
    "/ended-sessions",
    {
      config: managedRoute({
        summary: "End the console sessions of a subject, everywhere and at once: by the installation's own",
        response: ENDED,
        example: { subject: "ann@example.com", reason: "a lost laptop" },
      }),
      schema: { body: BODY },
    },
    async (request): Promise<EndedSessions> => {
      const { store, principal, rights, author: by } = await changeContextOf(management, request, request.body);
      const { subject } = request.body;
      requireInstallation(rights, "end sessions");
      assertSubject(subject, issuers);
      // Two that end each other's sessions lock them in different orders.
      const { result: ended } = await commitChange(store, null, async (tx) => {
        const byLink = subject === LINK_ACTOR ? await endSessionsByLink(tx) : [];
        const digests = [...byLink, ...(await endSessionsOf(tx, subject))];
        // Once the deletions have waited; the session that asks may be among them.
        if (!digests.some((digest) => digest === principal.session)) await requireSessionStill(tx, principal);
        const count = digests.length;
        await appendAudit(tx, [{ at: null, kind: "session.ended", by, detail: { subject, count } }]);
        return count;
      });
      return { ended };
    },
  );
}
