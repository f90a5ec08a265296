import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { keepManagedBody } from "../auth/management/body-holder.ts";
import { handleInSlots } from "../auth/management/handle-in-slots.ts";
import { identifyIfKnown } from "../auth/management/management-hook.ts";
import { recordForbidden } from "../auth/refusals/record-forbidden.ts";
import { namesOtherCharset } from "../http/bodies/charset.ts";
import { isJsonType } from "../http/bodies/json-body.ts";
import { boundUnknownBodies } from "../http/bodies/unknown-bodies.ts";
import { clientAddress } from "../http/client-address.ts";
import { logFailure, sendProblem } from "../http/problems/error-handler.ts";
import { Problem, problem } from "../http/problems/problem.ts";
import { problemOf } from "../http/problems/problem-of.ts";
import { createReceipts } from "../management/keys/shown/receipt.ts";
import type { ServerDeps } from "../product/deps.ts";
import { answerGithub } from "./answer-github.ts";
import { answerMember } from "./answer-member.ts";
import { leakPaths } from "./described.ts";
import { createGithubVerifier, GithubUnavailableError, githubSignature } from "./github.ts";
import { leakMetrics } from "./metrics.ts";
import { readReport } from "./report.ts";
import { UnsignedReports } from "./unsigned-reports.ts";

/** Maximum bytes of a report: GitHub's contain all that it found at a time. */
const BODY_LIMIT = 1 << 20;
/** Answer to an unauthenticated caller, whatever it sent (threats b99). */
const RECEIVED = { status: "received" };
const MALFORMED = problem(
  "invalid_request",
  'The body must be {"leaks": [...]} with at most 100 entries, each {"key": "..."} or {"sha256": "<64 hex digits>"}, and may have "dryRun". Nothing was done.',
);

/**
 * Serves reports of leaked keys (docs/decisions/leaks.md). Members and those who run the installation learn of their
 * teams' keys; GitHub's secret scanning signs its reports; unauthenticated callers learn nothing. Nothing of a report
 * is logged.
 */
export function leakRoutes(app: FastifyInstance, deps: ServerDeps): void {
  const { store, clock, log, config } = deps;
  const count = leakMetrics(deps.metrics.registry);
  const receipts = createReceipts(store, clock);
  const unsigned = new UnsignedReports(deps, count);
  const isByGithub =
    config.leaksGithubKeysUrl === null ? undefined : createGithubVerifier(config.leaksGithubKeysUrl, clock.monotonic);
  app.addHook("onClose", () => unsigned.close());
  recordForbidden(app, deps);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));

  app.post("/leaks", {
    config: { public: true, describes: () => leakPaths("/api/v1/leaks") },
    bodyLimit: BODY_LIMIT,
    onRequest: [identifyIfKnown(deps, "head"), dontKeep],
    preParsing: [
      keepManagedBody(deps),
      boundUnknownBodies((request, reply) => {
        count("anonymous", "dropped");
        // GitHub sends it again.
        if (githubSignature(request.headers) === undefined) reply.code(202).send(RECEIVED);
        else sendProblem(reply, problem("unavailable", "This server holds as many reports as it can: try again."));
      }),
    ],
    preValidation: identifyIfKnown(deps, "body"),
    preHandler: handleInSlots(deps),
    errorHandler(error, request, reply) {
      const shown = problemOf(error, request.method);
      // An unknown caller does not learn what is wrong with a body before it is looked into; GitHub does, to mend it.
      const isOfBody = shown.status === 415 || (!(error instanceof Problem) && shown.status < 500);
      const isUnknown = request.managementPrincipal === null && githubSignature(request.headers) === undefined;
      if (isOfBody && isUnknown) return void reply.code(202).send(RECEIVED);
      logFailure(log, request, { error, shown, message: "a report of leaked keys failed" });
      sendProblem(reply, shown);
    },
    async handler(request, reply) {
      const { managementPrincipal: principal, body } = request;
      if (principal !== null) {
        const type = request.headers["content-type"];
        if (!isJsonType(type) || namesOtherCharset(type)) throw problem("unsupported_media_type");
        const report = readReport(body);
        if (report === undefined) throw MALFORMED;
        return answerMember({ store, clock, receipts, count }, request, principal, report);
      }
      if (await isSignedByGithub(request)) {
        const report = readReport(body);
        if (report?.format !== "github") throw MALFORMED;
        return answerGithub({ store, count }, clientAddress(request), report.leaks);
      }
      return receive(request, reply);
    },
  });

  async function isSignedByGithub({ headers, body }: FastifyRequest): Promise<boolean> {
    const signed = githubSignature(headers);
    if (isByGithub === undefined || signed === undefined || !Buffer.isBuffer(body)) return false;
    try {
      return await isByGithub(signed, body);
    } catch (error) {
      if (!(error instanceof GithubUnavailableError)) throw error;
      log.warn({ error }, "cannot verify GitHub's signature of a report of leaked keys");
      throw problem("unavailable", "The keys of GitHub's secret scanning could not be fetched: try again.");
    }
  }

  /** Answers before it acts on the report, so that the time of the answer gives nothing away either. */
  function receive(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { body } = request;
    const address = clientAddress(request);
    reply.raw.once("close", () => setImmediate(() => unsigned.take(body, address)));
    return reply.code(202).send(RECEIVED);
  }
}

async function dontKeep(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.header("cache-control", "no-store");
}
