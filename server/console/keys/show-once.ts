import type { FastifyReply, FastifyRequest } from "fastify";
import type { Made } from "../../management/creation.ts";
import type { KeyJson } from "../../management/keys/key-json.ts";
import { layout } from "../layout.ts";
import { sendPage } from "../send-page.ts";
import { viewerOf } from "../viewer.ts";
import { shownAlreadyContent, shownOnceContent } from "./shown-once-page.ts";

/**
 * Answers with the key that was made, the one time: the answer to the form itself, which nothing keeps.
 *
 * @param publicUrl null where the server is told of none: then it is where this request came to
 */
export function showOnce(
  request: FastifyRequest,
  reply: FastifyReply,
  { shown: key, secret }: Made<KeyJson>,
  publicUrl: URL | null,
): FastifyReply {
  const viewer = viewerOf(request);
  if (secret === null) {
    const title = "This key was shown already";
    return sendPage(reply.code(409), layout({ title, section: "keys", viewer, content: shownAlreadyContent(key) }));
  }
  const url = (publicUrl?.href ?? `${request.protocol}://${request.headers.host}`).replace(/\/$/, "");
  const content = shownOnceContent({ key, secret, publicUrl: url });
  return sendPage(reply.code(201), layout({ title: "Your new key", section: "keys", viewer, content }));
}
