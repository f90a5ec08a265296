import type { FastifyReply, FastifyRequest } from "fastify";
import type { Html } from "./html.ts";
import { layout, type PageLayout } from "./layout.ts";
import { viewerOf } from "./viewer.ts";

/** Sends a page of the console for the person who is signed in. */
export function sendConsolePage(
  request: FastifyRequest,
  reply: FastifyReply,
  page: Omit<PageLayout, "viewer">,
): FastifyReply {
  return sendPage(reply, layout({ ...page, viewer: viewerOf(request) }));
}

export function sendPage(reply: FastifyReply, page: Html): FastifyReply {
  return reply.type("text/html; charset=utf-8").send(page.toString());
}
