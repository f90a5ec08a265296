import type { FastifyInstance } from "fastify";
import { commitChange, seqIfKnown } from "../../store/database/change.ts";
import { isId } from "../../store/database/ids.ts";
import { keysMadeBy, type NamedKey } from "../../store/keys/search/keys-made-by.ts";
import { lockObject } from "../../store/objects/objects.ts";
import { revokeSubject } from "../../store/teams/revoked-subjects.ts";
import type { ServerConfig } from "../context/config.ts";
import { problem } from "../http/problems/problem.ts";
import { changeContextOf } from "./change-context.ts";
import type { Management } from "./context.ts";
import type { Receipt } from "./keys/shown/receipt.ts";
import { managedRoute } from "./managed-route.ts";
import { assertSubject, SUBJECT } from "./named-subject.ts";
import { REASON, type ReasonBody } from "./request-schemas.ts";
import { closedObject, RECEIPT_FIELDS, TEXT } from "./response-schemas.ts";
import { requireRightStill, seesTeam } from "./rights.ts";

type Body = ReasonBody & { subject: string };

const BODY = {
  type: "object",
  additionalProperties: false,
  required: ["subject"],
  properties: {
    subject: SUBJECT,
    reason: REASON,
  },
} as const;

const KEY = closedObject("KeyOfSubject", { id: TEXT, namespace: TEXT, name: TEXT, prefix: TEXT });
const REVOKED = closedObject("RevokedSubject", {
  ...RECEIPT_FIELDS,
  keys: {
    type: "array",
    items: KEY,
    description:
      "The team's keys that live by a version which the subject made by hand, and may have the secret of: they are not revoked by this. 1,000 at most.",
  },
});

/** Answer, as programs read it. */
export type RevokedSubject = Receipt & { readonly keys: readonly NamedKey[] };

/**
 * Serves the revocation of a subject: cuts the tokens and sessions of a person or a program off from a team, by hand
 * and at once (docs/decisions/mcp-oauth.md).
 */
export function revokedSubjectRoutes(
  app: FastifyInstance,
  management: Management,
  { oidc }: Pick<ServerConfig, "oidc">,
): void {
  const { store, receipts } = management;
  const issuers = oidc?.issuers ?? [];
  app.post<{ Params: { id: string }; Body: Body }>(
    "/teams/:id/revoked-subjects",
    {
      config: managedRoute({
        summary:
          "Have a team refuse the tokens of a subject that were issued, and their console sessions that began, up to now",
        response: REVOKED,
        example: { subject: "ann@example.com", reason: "a lost laptop" },
        refusals: ["conflict"],
      }),
      schema: { body: BODY },
    },
    async (request): Promise<RevokedSubject> => {
      const { rights, principal, author: by } = await changeContextOf(management, request, request.body);
      const { id } = request.params;
      const { subject } = request.body;
      assertSubject(subject, issuers);
      const { askSeq } = await commitChange(store, null, async (tx) => {
        const team = isId(id) ? await lockObject(tx, "team", id) : undefined;
        if (team === undefined || !seesTeam(rights, team.teamId))
          throw problem("not_found", "There is no team of this id.");
        await requireRightStill(tx, principal, team.teamId, "revoke keys");
        if (!(await revokeSubject(tx, { teamId: team.teamId, subject, by }))) throw TOO_MANY;
      });
      const receipt = await receipts.wait(await seqIfKnown(askSeq));
      // Read after the revocation, so that all keys made before it are included.
      return { ...receipt, keys: await keysMadeBy(store.db, id, subject) };
    },
  );
}

const TOO_MANY = problem(
  "conflict",
  "This team has revoked as many subjects as are kept: remove those who are to stay out from its members.",
);
