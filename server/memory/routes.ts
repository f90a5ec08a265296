import type { FastifyInstance } from "fastify";
import { type QuestionEmbedder, WORDS_ALONE } from "../embedding/question.ts";
import { parseJsonOnly } from "../http/bodies/json-body.ts";
import { validateStrictly } from "../http/validation.ts";
import type { ServerDeps } from "../product/deps.ts";
import { memoryChangeRoutes } from "./change-routes.ts";
import { leaveOutEmptyParameters } from "./empty-parameters.ts";
import { memoryExportRoutes } from "./export-routes.ts";
import { memoryImportRoutes } from "./import-routes.ts";
import { memoryReadRoutes } from "./read-routes.ts";
import { memorySaveRoutes } from "./save-routes.ts";

/**
 * The memory over REST (spec §3, docs/decisions/memory-api.md). Every statement carries the key's team and libraries,
 * so that what a key may not reach is not there.
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
}
