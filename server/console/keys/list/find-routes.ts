import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { keyDigest, MAX_KEY_LENGTH } from "../../../../domain/key/secret/key-format.ts";
import { findSecrets } from "../../../../store/keys/events/key-leaks.ts";
import { principalOf } from "../../../auth/management/author.ts";
import type { Management } from "../../../management/context.ts";
import { rightsOf, seesTeam } from "../../../management/rights.ts";
import { type FormBody, field } from "../../../pages/forms.ts";
import { sendConsolePage } from "../../../pages/send-page.ts";
import { viewerOf } from "../../../pages/viewer.ts";
import { type FindForm, findContent } from "./find-page.ts";

/**
 * Serves the search for a key by its whole secret, such as a secret found in a file. The secret comes in a form's body
 * alone, as URLs are kept in histories and logs. The database is asked for its digest, so that an imported secret of
 * any shape is found.
 */
export function keyFindRoutes(app: FastifyInstance, { store }: Management): void {
  app.get("/keys/find", { config: { console: true } }, async (request, reply) => send(request, reply, "nothing"));

  app.post<{ Body: FormBody }>("/keys/find", { config: { console: true } }, async (request, reply) => {
    const secret = field(request.body, "secret");
    if (secret === "") return send(request, reply.status(422), "empty");
    const rights = await rightsOf(store.db, principalOf(request));
    const found = secret.length > MAX_KEY_LENGTH ? [] : await findSecrets(store.db, [keyDigest(secret)]);
    const [key] = found.filter(({ teamId }) => seesTeam(rights, teamId));
    // A secret of another team and a secret of no key get the same answer.
    if (key === undefined) return send(request, reply.status(404), "unknown");
    return reply.redirect(`/dashboard/keys/${key.keyId}`, 303);
  });
}

function send(request: FastifyRequest, reply: FastifyReply, outcome: FindForm["outcome"]): FastifyReply {
  const content = findContent({ outcome, viewer: viewerOf(request) });
  return sendConsolePage(request, reply, { title: "Find a key by its secret", section: "keys", content });
}
