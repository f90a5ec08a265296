import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods, onRequestHookHandler } from "fastify";
import { permits } from "../../domain/access/authorize.ts";
import { type MemoryOperation, OPERATIONS } from "../../domain/access/operations.ts";
import { protectedResource } from "../../server/auth/protected-resource.ts";
import { forbiddenKey } from "../../server/auth/refusals/forbidden-key.ts";
import { recordRefusal } from "../../server/auth/refusals/record-refusal.ts";
import { forbidden } from "../../server/auth/refused.ts";
import { lacksScope, scopeChallenge } from "../../server/auth/tokens/token-problems.ts";
import { MCP_PATH } from "../../server/context/memory-resource.ts";
import { parseJsonOnly, requireJsonType } from "../../server/http/bodies/json-body.ts";
import { refuseForeignHosts } from "../../server/http/host-check.ts";
import { sendProblem } from "../../server/http/problems/error-handler.ts";
import { type Problem, problem } from "../../server/http/problems/problem.ts";
import { problemOf } from "../../server/http/problems/problem-of.ts";
import type { ServerDeps } from "../../server/product/deps.ts";
import { type QuestionEmbedder, WORDS_ALONE } from "../embedding/question.ts";
import { challenged } from "./protocol/challenge.ts";
import { mcpPaths } from "./protocol/described.ts";
import { exchange } from "./protocol/exchange.ts";
import { type Message, messageFault, readMessage, requireServedVersion, toolOf } from "./protocol/message.ts";
import type { McpDeps } from "./protocol/server.ts";

/** Codes of JSON-RPC for the statuses that this endpoint reports by itself. */
const RPC_CODES: Readonly<Record<number, number>> = {
  400: -32_600,
  405: -32_000,
  406: -32_000,
  413: -32_000,
  415: -32_000,
  429: -32_000,
};
const INSUFFICIENT_SCOPE = -32_003;
const INVALID_PARAMS = -32_602;

/**
 * Serves the memory over MCP (spec §3): Streamable HTTP without sessions, for both protocol eras. The checks come in
 * the order of spec §2.8: Host and Origin, the key, Accept, Content-Type, the body, the tool.
 *
 * @param questions embeds the questions of searches
 */
export function mcpRoutes(app: FastifyInstance, deps: ServerDeps, questions: QuestionEmbedder = WORDS_ALONE): void {
  const mcp: McpDeps = { ...deps, questions };
  parseJsonOnly(app);
  app.addHook("onRequest", refuseForeignHosts(deps.config));
  const resource = protectedResource(deps.config);
  const challengeOf = ({ raw }: FastifyRequest, shown: Problem): Problem =>
    resource === null ? shown : challenged(resource, shown, raw.rawHeaders);
  app.setErrorHandler((error, request, reply) => {
    const shown = problemOf(error);
    const code = RPC_CODES[shown.status];
    if (code === undefined) {
      const challenge = challengeOf(request, shown);
      // The answers about the key, and our own failures, are the same here as everywhere.
      if (challenge === shown) throw error;
      return sendProblem(reply, challenge);
    }
    return reply
      .code(shown.status)
      .headers(shown.headers)
      .send(rpcError(null, code, shown.detail));
  });

  app.post(
    MCP_PATH,
    {
      config: { operation: "mcp.connect", memberTokens: true, describes: () => mcpPaths(MCP_PATH) },
      onRequest: [requireBothTypes, requireJsonType],
    },
    async (request, reply) => {
      const message = readMessage(request.body);
      requireServedVersion(request.headers["mcp-protocol-version"], message);
      const operation = toolOf(message)?.operation;
      const denied = deniedTool(request, operation);
      if (denied !== undefined) {
        recordRefusal(deps, request, MCP_PATH, forbidden("scope_missing", request.principal));
        const { membership } = request.principal;
        const refusal =
          membership === undefined
            ? lacksKeyScope(deps, request, denied)
            : challengeOf(request, lacksScope(membership));
        return refuseTool(reply, message, refusal);
      }
      const fault = messageFault(message);
      if (fault !== undefined) return rpcError(message.id, INVALID_PARAMS, fault);
      deps.usage.countRequest(request.principal, operation ?? "mcp.connect", deps.clock.now());
      return exchange(mcp, request, reply, message);
    },
  );
  // There are no sessions to end and no stream without a request: MCP has a server without them answer 405. That comes
  // before a body is read, which no other method takes.
  const refuseMethod = async (): Promise<never> => {
    throw problem("method_not_allowed", "Send each message by POST: this endpoint is stateless.", { allow: "POST" });
  };
  app.route({
    url: MCP_PATH,
    method: app.supportedMethods.filter((method) => method !== "POST") as HTTPMethods[],
    config: { operation: "mcp.connect", memberTokens: true, allow: "POST" },
    onRequest: refuseMethod,
    handler: refuseMethod,
  });
}

const requireBothTypes: onRequestHookHandler = (request, _reply, done) => {
  const types = (request.headers.accept ?? "").split(",").map((type) => type.split(";")[0]?.trim().toLowerCase());
  if (types.includes("application/json") && types.includes("text/event-stream")) return done();
  done(problem("not_acceptable", "Send the header Accept: application/json, text/event-stream."));
};

/** Returns the operation of a tool whose scope the key lacks; undefined for anything that may go on. */
function deniedTool({ principal }: FastifyRequest, operation: MemoryOperation | undefined) {
  return operation === undefined || permits(principal, operation) ? undefined : operation;
}

function lacksKeyScope(deps: ServerDeps, { raw, principal }: FastifyRequest, denied: MemoryOperation): Problem {
  const { scope } = OPERATIONS[denied];
  const asked = { product: "memory", operation: denied } as const;
  const { detail } = forbiddenKey(deps, raw, { cause: "scope_missing", key: principal, asked });
  return problem("forbidden", detail, scope === null ? {} : { "www-authenticate": scopeChallenge([scope]) });
}

function refuseTool(reply: FastifyReply, { id }: Message, { status, headers, detail }: Problem): FastifyReply {
  return reply
    .code(status)
    .headers(headers)
    .send(rpcError(id, INSUFFICIENT_SCOPE, detail));
}

function rpcError(id: unknown, code: number, message: string): Message {
  return {
    jsonrpc: "2.0",
    id: typeof id === "string" || typeof id === "number" ? id : null,
    error: { code, message },
  };
}
