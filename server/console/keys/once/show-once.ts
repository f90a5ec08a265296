import type { FastifyReply, FastifyRequest } from "fastify";
import type { CreationResult } from "../../../management/creation.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { sendKeyPage } from "../page/key-routes.ts";
import { shownAlreadyContent, shownOnceContent } from "./shown-once-page.ts";

/**
 * Answers with the key that was made, the one time: the answer to the form itself, which nothing keeps.
 *
 * @param publicUrl null where none is configured: then the address that this request came to is shown
 */
export function showOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  { shown: key, secret, replayed }: CreationResult<KeyJson>,
  publicUrl: URL | null,
): FastifyReply {
  if (secret === null) {
    const title = "This key was shown already";
    return sendKeyPage(request, reply.code(409), title, shownAlreadyContent(key));
  }
  const url = (publicUrl?.href ?? `${request.protocol}://${request.headers.host}`).replace(/\/$/, "");
  const content = shownOnceContent({ key, secret, isAgain: replayed, publicUrl: url });
  return sendKeyPage(request, reply.code(201), "Your new key", content);
}

/** Whether the browser that sent the form waits for its answer no longer. */
export function isAbandoned({ raw }: FastifyReply): boolean {
  return raw.destroyed;
}
