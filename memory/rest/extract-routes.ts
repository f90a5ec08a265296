import type { FastifyInstance } from "fastify";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import { requireJsonType } from "../../server/http/bodies/json-body.ts";
import { sha256 } from "../../server/http/idempotency-key.ts";
import { type Problem, problem } from "../../server/http/problems/problem.ts";
import { callMemory } from "../../server/libraries/call-memory.ts";
import { libraryName } from "../../server/libraries/libraries.ts";
import type { ServerDeps } from "../../server/product/deps.ts";
import { isExtracting } from "../../store/libraries/library-extraction.ts";
import { noLibrary, requireLibrary } from "../call/problems.ts";
import { conversationPassages, MAX_CONVERSATION } from "../rules/conversation.ts";
import { tokensOfCall } from "../rules/extraction.ts";
import { EXTRACTION, HANDED_OVER } from "../shown/response-schemas.ts";
import { type Conversation, findJob, type HandedOver, handOver, MAX_OPEN } from "../store/extraction/jobs.ts";
import { writeAs } from "../writes/write-as.ts";
import { EXTRACT_BODY, EXTRACT_EXAMPLE, type ExtractBody, JOB_QUERY } from "./request-schemas.ts";

/** Adds the routes for conversations that a library's model takes statements out of (docs/decisions/capture.md). */
export function memoryExtractRoutes(app: FastifyInstance, deps: ServerDeps): void {
  app.post<{ Body: ExtractBody }>(
    "/atoms/extract",
    {
      config: {
        operation: "atoms.extract",
        docs: {
          summary: "Hand over a conversation, for a model to take atoms out of it",
          status: 202,
          response: HANDED_OVER,
          example: EXTRACT_EXAMPLE,
          refusals: ["not_found", "conflict", "insufficient_storage"],
        },
      },
      onRequest: requireJsonType,
      schema: { body: EXTRACT_BODY },
    },
    async (request, reply) => {
      const { library: named, messages } = request.body;
      const job = await callMemory(deps, request, reply, async (db, user) => {
        const { id: libraryId } = await requireLibrary(db, user, named);
        // Before the conversation is worked on, which takes a while.
        if (!(await isExtracting(db, libraryId))) throw UNDECLARED;
        const conversation = conversationOf(messages, libraryId);
        const result = await writeAs(deps, db, request, {
          write: (tx, reach) => handOver(tx, reach, conversation),
          libraryOf: (handed) => (handed?.kind === "job" ? handed.libraryId : undefined),
        });
        if (result === undefined) throw await noLibrary(db, user.key, named);
        if (result.kind !== "job") throw refusal(result);
        return result;
      });
      const { id, state } = job;
      return reply.code(202).header("location", `${request.routeOptions.url}/${id}`).send({ id, status: state });
    },
  );

  app.get<{ Params: { id: string } }>(
    "/atoms/extract/:id",
    {
      config: {
        operation: "atoms.extraction",
        docs: { summary: "See what has become of a conversation that was handed over", response: EXTRACTION },
      },
      schema: { querystring: JOB_QUERY },
    },
    async (request, reply) => {
      const { principal, params } = request;
      const job = await callMemory(deps, request, reply, async (db, { noteLibrary }, reach) => {
        const found = await findJob(db, reach, params.id);
        if (found === undefined) throw NO_JOB;
        noteLibrary(found.library.id);
        return found;
      });
      const { id, state, library, calls, done, found, known, atomIds, failure, createdAt, endedAt } = job;
      return {
        ...{ id, status: state, library: libraryName(principal, library), calls, done, found, known, atomIds, failure },
        created: rfc3339Millis(createdAt),
        ended: endedAt === null ? null : rfc3339Millis(endedAt),
      };
    },
  );
}

/** @throws Problem 400 for a conversation in which nothing is said, 413 for a conversation that is too long */
function conversationOf(messages: ExtractBody["messages"], libraryId: string): Conversation {
  const passages = conversationPassages(messages);
  if (passages === undefined) throw TOO_LONG;
  if (passages.length === 0) throw NOTHING_SAID;
  return { libraryId, passages, digest: sha256(JSON.stringify(passages)), tokens: tokensOfAll(passages) };
}

function tokensOfAll(passages: readonly string[]): number {
  return passages.reduce((sum, passage) => sum + tokensOfCall(passage), 0);
}

const NOTHING_SAID = problem(
  "invalid_request",
  'No message of the role "user" or "assistant" says anything: what tools, the system and a recall say is left out.',
);
const TOO_LONG = problem(
  "payload_too_large",
  `What the user and the assistant say has more than ${MAX_CONVERSATION.toLocaleString("en")} characters, as JSON: hand the conversation over in parts, or its end alone.`,
);
const NO_JOB = problem(
  "not_found",
  "There is no conversation of this id for this key. What was handed over 30 days ago is not known any more.",
);
const UNDECLARED = problem(
  "conflict",
  "This library takes no atoms out of conversations: declare spec.extraction on its MemoryLibrary, with a gatewayRef and a model, or save atoms by POST /atoms.",
);
const REVOKED = problem(
  "conflict",
  "The key by which this library calls its model was revoked: take spec.extraction of its MemoryLibrary away and put it back for another key.",
);
const FULL = problem(
  "rate_limited",
  `${MAX_OPEN} conversations of this library wait to be read: try again later. GET /atoms/extract/{id} of one of them says why it waits.`,
  { "retry-after": "60" },
);
const SPENT =
  "This conversation would take more than is left of the library's tokens of the day: hand it over tomorrow (UTC), or a shorter one, or raise spec.extraction.tokensPerDay of its MemoryLibrary.";

function tooLarge({ tokens, tokensPerDay }: Extract<HandedOver, { kind: "large" }>): Problem {
  return problem(
    "payload_too_large",
    `This conversation takes ${tokens.toLocaleString("en")} tokens, and the library has ${tokensPerDay.toLocaleString("en")} a day: hand it over in parts, or raise spec.extraction.tokensPerDay of its MemoryLibrary.`,
  );
}

function refusal(result: Exclude<HandedOver, { kind: "job" }>): Problem {
  if (result.kind === "undeclared") return UNDECLARED;
  if (result.kind === "revoked") return REVOKED;
  if (result.kind === "full") return FULL;
  if (result.kind === "large") return tooLarge(result);
  return problem("rate_limited", SPENT, { "retry-after": String(Math.max(1, Math.ceil(result.resetsInMs / 1_000))) });
}
