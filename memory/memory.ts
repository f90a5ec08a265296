/** Entry point of the memory: all that a server's processes need of it. They import no other file from here. */
import type { Registry } from "@prometheus-io/client";
import type { Logger } from "../runtime/log.ts";
import type { Mount, RoutePlugin } from "../server/app.ts";
import type { ConsolePages } from "../server/console/routes.ts";
import type { TextEmbedder } from "../server/gateway/library/embed-texts.ts";
import type { TextGenerator } from "../server/gateway/library/generate-text.ts";
import type { SaveRecords } from "../server/product/deps.ts";
import type { Store } from "../store/database/store.ts";
import { startLibraryEmbedder } from "./embedding/library-embedder.ts";
import { type CountEmbedded, embeddingMetrics } from "./embedding/metrics.ts";
import { createQuestionEmbedder, WORDS_ALONE } from "./embedding/question.ts";
import { startLibraryExtractor } from "./extraction/library-extractor.ts";
import { type CountRead, extractionMetrics } from "./extraction/metrics.ts";
import { metadataRoutes } from "./mcp/metadata-routes.ts";
import { mcpRoutes } from "./mcp/routes.ts";
import { libraryRoutes } from "./pages/library-routes.ts";
import { memoryRoutes } from "./rest/routes.ts";
import { expiredDeletion } from "./store/rows/expired-atoms.ts";
import { RecordCapacity } from "./store/writes/record-capacity.ts";

/** Routes of the memory that a thread serves, and its pages of the console. */
export type MemoryProduct = { readonly mounts: readonly Mount[]; readonly pages: ConsolePages };

type Questions = {
  readonly embed: TextEmbedder["embed"];
  /** Milliseconds on a clock that never jumps. */
  readonly monotonic: () => number;
};

/**
 * Makes the routes and pages that a thread serves: the memory over REST at both of its paths, over MCP, and the pages
 * of libraries.
 *
 * @param questions embeds the questions of searches; without it searches go by words alone
 */
export function memoryProduct(questions?: Questions): MemoryProduct {
  const embedder = questions === undefined ? WORDS_ALONE : createQuestionEmbedder(questions.embed, questions.monotonic);
  const rest: RoutePlugin = (app, deps) => memoryRoutes(app, deps, embedder);
  const mcp: RoutePlugin = (app, deps) => mcpRoutes(app, deps, embedder);
  return {
    mounts: [
      { at: "", routes: rest },
      { at: "/api/v1/memory", routes: rest },
      { at: "", routes: mcp },
      { at: "", routes: metadataRoutes },
    ],
    pages: libraryRoutes,
  };
}

export type MemoryMetrics = { readonly countEmbedded: CountEmbedded; readonly countRead: CountRead };

/** Registers the metrics of the memory. */
export function memoryMetrics(registry: Registry): MemoryMetrics {
  return { countEmbedded: embeddingMetrics(registry), countRead: extractionMetrics(registry) };
}

/** Creates a thread's count of the capacity that callers have for records of saves. */
export function saveRecords(monotonic: () => number): SaveRecords {
  return new RecordCapacity(monotonic);
}

type Background = {
  readonly store: Store;
  readonly embedder: TextEmbedder;
  readonly generator: TextGenerator;
  readonly log: Logger;
  readonly metrics: MemoryMetrics;
};

/**
 * Starts the background work of one thread of a process: it embeds atoms, and has models read conversations.
 *
 * @returns stops it, and waits for what is under way
 */
export function startMemory({ store, embedder, generator, log, metrics }: Background): () => Promise<unknown> {
  const libraries = startLibraryEmbedder({ store, embedder, log, count: metrics.countEmbedded });
  const conversations = startLibraryExtractor({ store, generator, log, count: metrics.countRead });
  return () => Promise.all([libraries.close(), conversations.close()]);
}

/** Returns the deletion of expired atoms, and of forgotten atoms whose retention has ended, a slice at a time. */
export const expiredAtomDeletion = expiredDeletion;
