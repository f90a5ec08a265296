import type { FastifyInstance, preValidationHookHandler } from "fastify";
import { parseJsonOnly } from "../../server/http/bodies/json-body.ts";
import { validateStrictly } from "../../server/http/validation.ts";
import type { ServerDeps } from "../../server/product/deps.ts";
import { type QuestionEmbedder, WORDS_ALONE } from "../embedding/question.ts";
import { memoryChangeRoutes } from "./change-routes.ts";
import { memoryExportRoutes } from "./export-routes.ts";
import { memoryExtractRoutes } from "./extract-routes.ts";
import { memoryImportRoutes } from "./import-routes.ts";
import { memoryReadRoutes } from "./read-routes.ts";
import { memorySaveRoutes } from "./save-routes.ts";

/**
 * Adds the routes of the memory over REST (spec §3, docs/decisions/memory-api.md). Every statement carries the key's
 * team and libraries, so that what a key may not reach is not there.
 *
 * @param questions embeds the questions of searches
 */
export function memoryRoutes(app: FastifyInstance, deps: ServerDeps, questions: QuestionEmbedder = WORDS_ALONE): void {
  parseJsonOnly(app);
  validateStrictly(app);
  app.addHook("preValidation", leaveOutEmptyParameters);
  memoryReadRoutes(app, deps, questions);
  memorySaveRoutes(app, deps);
  memoryExportRoutes(app, deps);
  memoryImportRoutes(app, deps);
  memoryChangeRoutes(app, deps);
  memoryExtractRoutes(app, deps);
}

/**
 * Takes the empty parameters of a query for left out, as forms and programs mean them. Their names stay: an unknown
 * name is refused all the same. Only reads are changed: an empty parameter of a write is refused, since the write might
 * do more than was meant.
 */
const leaveOutEmptyParameters: preValidationHookHandler = (request, _reply, done) => {
  if (request.method !== "GET" && request.method !== "HEAD") return done();
  const given = Object.entries(request.query ?? {});
  request.query = Object.fromEntries(given.map(([name, value]) => [name, withoutEmpty(value)]));
  done();
};

/** @param value of a parameter, or an array of its values if it is given several times */
function withoutEmpty(value: unknown): unknown {
  if (!Array.isArray(value)) return value === "" ? undefined : value;
  const given = value.filter((each) => each !== "");
  return given.length === 0 ? undefined : given;
}
