import type { FastifyReply } from "fastify";
import { type Content, type Html, html } from "../../pages/html.ts";
import { layout } from "../../pages/layout.ts";
import { sendPage } from "../../pages/send-page.ts";
import { SIGN_IN } from "./return-to.ts";

/** Answers with a page of the sign-in. */
export function sendSignInPage(reply: FastifyReply, status: number, title: string, content: Content): FastifyReply {
  const page = layout({
    title,
    viewer: null,
    content: html`<div class="panel narrow"><h1>${title}</h1>\n${content}</div>`,
  });
  return sendPage(reply.code(status), page);
}

/** Returns a list of the issuers to choose from. */
export function signInChoice(issuers: readonly string[], returnTo: string): Html {
  return html`${issuers.map(
    (issuer) =>
      html`<p class="actions"><a class="button primary" href="${issuerUrl(issuer, returnTo)}">Sign in with ${nameOf(issuer)}</a></p>`,
  )}`;
}

/**
 * Returns the instructions for a link, by which people sign in if there is no issuer.
 *
 * @param command prints a link, in a shell
 */
export function linkNeeded(command: string): Html {
  return html`<p>This installation signs people in by a link that works once, for ten minutes. Make one where it runs:</p>
<pre tabindex="0"><code>${command}</code></pre>`;
}

export const ISSUER_AWAY: Html = html`<p>It has to say who you are: when you sign in, and every 15 minutes from then on. Try again in a moment. If it stays away, the server's log says why.</p>`;

export const TRY_AGAIN: Html = html`<p class="actions"><a class="button primary" href="${SIGN_IN}">Sign in</a></p>`;

export function issuerUrl(issuer: string, returnTo: string): string {
  return `${SIGN_IN}?${new URLSearchParams({ issuer, returnTo })}`;
}

function nameOf(issuer: string): string {
  const { host, pathname } = new URL(issuer);
  return `${host}${pathname.replace(/\/$/, "")}`;
}
