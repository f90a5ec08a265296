import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { containsKey } from "../../domain/redact.ts";
import type { Logger } from "../../runtime/log.ts";
import type { ProblemCode } from "../http/problems/catalogue.ts";
import { logFailure } from "../http/problems/error-handler.ts";
import { type Problem, problem } from "../http/problems/problem.ts";
import { problemOf } from "../http/problems/problem-of.ts";
import { SAFE_METHODS } from "../http/safe-methods.ts";
import { type Html, html } from "./html.ts";
import { layout } from "./layout.ts";
import { sendPage } from "./send-page.ts";
import { findViewer } from "./viewer.ts";

/** Advice on refusals, besides their own text. */
const ADVICE: Partial<Record<ProblemCode, string>> = {
  unauthorized: "Sign in, and open the page again.",
  forbidden: "A member with another role can do it: the admins are on the page of the team.",
  not_found:
    "It may be another team's, you may be in its team no longer, or the address may have a typing error. The list has what is yours.",
  conflict: "Look at what is there now, and decide again.",
  exists: "Choose another name, or open what is there.",
  managed: "Change its declaration. Revoking it here always works.",
  precondition_failed: "It has been changed meanwhile. Look at what is there now, and make your change again.",
  idempotency_mismatch:
    "The form was sent before, filled in otherwise. What it made then is in the list; if its key was not seen, rotate it there.",
  unavailable: "Nothing is lost: reload this page in a moment.",
  internal: "Try again. If it stays like this, the server's log has the cause.",
};

/** Advice for a form whose outcome is unknown. A form takes effect once, however often it is sent. */
const SEND_AGAIN = "Reload this page in a moment, and let the browser send the form again: it is done once at most.";

/** Shows errors, and URLs without a page, as pages. */
export function showProblems(app: FastifyInstance, log: Logger): void {
  showErrors(app, log);
  // Brings the plugin's URLs without a route to its error handler.
  app.setNotFoundHandler(() => {
    throw NO_PAGE;
  });
}

/** Shows an error as a page, with the words that the API would answer. */
export function showErrors(app: FastifyInstance, log: Logger): void {
  app.setErrorHandler((error, request, reply) => {
    const said = problemOf(error, request.method);
    const shown = request.is404 && said.code === "not_found" ? NO_PAGE : said;
    logFailure(log, request, { error, shown, message: "a page failed" });
    return sendProblemPage(request, reply, shown);
  });
}

const NO_PAGE = problem("not_found", "There is no page at this address.");

function sendProblemPage(request: FastifyRequest, reply: FastifyReply, shown: Problem): FastifyReply {
  const viewer = findViewer(request);
  reply.code(shown.status).headers(shown.headers);
  return sendPage(reply, layout({ title: shown.title, viewer, content: problemContent(shown, request) }));
}

/**
 * Returns the page of a form that was refused for lack of a session: opening it leads to the sign-in, and from there
 * back.
 */
function formPage({ url, server, routeOptions }: FastifyRequest): string {
  const isPage = routeOptions.url !== undefined && server.hasRoute({ method: "GET", url: routeOptions.url });
  return isPage && !containsKey(url) ? url : KEYS;
}

const KEYS = "/dashboard/keys";

function problemContent({ title, status, code, detail }: Problem, request: FastifyRequest): Html {
  const { method } = request;
  const advice = code === "unavailable" && !SAFE_METHODS.has(method) ? SEND_AGAIN : ADVICE[code];
  return html`<div class="panel narrow"><p class="muted">${status} · <code>${code}</code></p><h1>${title}</h1>
<p>${detail}</p><p>${advice}</p>
<p class="actions">${
    code === "unauthorized"
      ? html`<a class="button primary" href="${formPage(request)}">Sign in</a>`
      : html`<a class="button primary" href="${KEYS}">To the API keys</a>`
  }</p></div>`;
}
