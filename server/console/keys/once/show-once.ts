import type { FastifyReply, FastifyRequest } from "fastify";
import type { Db } from "../../../../store/database/change.ts";
import type { CreationResult } from "../../../management/creation.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { sendKeyPage } from "../page/key-routes.ts";
import { findCallableGateway } from "./first-call.ts";
import { shownAlreadyContent, shownOnceContent } from "./shown-once-page.ts";

/**
 * Sends the key that was made, once, in the answer to the form itself, which nothing keeps.
 *
 * @param publicUrl null if none is configured: then the page shows the address that this request came to
 */
export async function showOnce(
  db: Db,
  request: FastifyRequest,
  reply: FastifyReply,
  { shown: key, secret, replayed }: CreationResult<KeyJson>,
  publicUrl: URL | null,
): Promise<FastifyReply> {
  if (secret === null) {
    const title = "This key was shown already";
    return sendKeyPage(request, reply.code(409), title, shownAlreadyContent(key));
  }
  const url = (publicUrl?.href ?? `${request.protocol}://${request.headers.host}`).replace(/\/$/, "");
  // What was made is shown, whatever else cannot be read.
  const gateway = await findCallableGateway(db, key).catch(() => undefined);
  const content = shownOnceContent({ key, secret, isAgain: replayed, publicUrl: url, gateway });
  return sendKeyPage(request, reply.code(201), "Your new key", content);
}

/** True if the browser that sent the form no longer waits for its answer. */
export function isAbandoned({ raw }: FastifyReply): boolean {
  return raw.destroyed;
}
