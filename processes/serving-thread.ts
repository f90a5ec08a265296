import { type MemoryProduct, memoryProduct, saveRecords } from "../memory/memory.ts";
import { createJwtValidator } from "../server/auth/tokens/jwt.ts";
import { openBudgetGrants } from "../server/budgets/open-budget-grants.ts";
import { createTextEmbedder, type TextEmbedder } from "../server/gateway/library/embed-texts.ts";
import { AnswerBudget, answerLimits } from "../server/http/answers/answer-budget.ts";
import { type SharedCells, threadsOf } from "../server/key-index/shared-cells.ts";
import { openInstallationLimits } from "../server/limits/open-installation-limits.ts";
import { openObjectOwners } from "../server/ownership/open-object-owners.ts";
import type { ServerDeps } from "../server/product/deps.ts";
import type { ServerMetrics } from "./metrics.ts";

/** The parts that a thread has of its own, or is given by the main thread. */
type ThreadParts = Omit<
  ServerDeps,
  "answers" | "recordCapacity" | "installationLimits" | "budgets" | "owners" | "tracing" | "validateJwt" | "metrics"
> & {
  readonly metrics: ServerMetrics;
  readonly cells: SharedCells;
  readonly replicaId: string;
  /** Number of threads that share the memory for answers. */
  readonly threads: number;
};

export type ServingThread = {
  readonly deps: ServerDeps;
  readonly memory: MemoryProduct;
  /** Embeds texts for the memory; the caller closes it before what counts usage. */
  readonly embedder: TextEmbedder;
  /** Gives back what the thread holds of limits and budgets, and sends the last spans. */
  close(): Promise<void>;
};

/**
 * Opens what a thread needs to serve the public port: limits, budgets, tracing, and the memory's product. OpenTelemetry,
 * a sixth of a server's modules, is loaded only if requests are traced.
 */
export async function openServingThread({ cells, replicaId, threads, ...parts }: ThreadParts): Promise<ServingThread> {
  const { store, config, clock, log, prices, metrics } = parts;
  const { otlp } = config;
  const traced = { log, count: metrics.countSpans, replica: replicaId };
  const tracing = otlp && (await import("../server/telemetry/tracing.ts")).openTracing({ otlp, ...traced });
  const limits = openInstallationLimits(store, clock, () => threadsOf(cells, config.workers));
  const grants = openBudgetGrants({ store, clock, log, prices });
  const calling = { ...parts, budgets: grants.budgets, installationLimits: limits.installationLimits };
  const embedder = createTextEmbedder(calling);
  return {
    deps: {
      ...calling,
      owners: openObjectOwners(store, clock),
      tracing: tracing?.tracing ?? null,
      answers: new AnswerBudget(answerLimits(threads)),
      recordCapacity: saveRecords(clock.monotonic),
      validateJwt: config.oidc && createJwtValidator(config.oidc, clock),
    },
    memory: memoryProduct({ embed: embedder.embed, monotonic: clock.monotonic }),
    embedder,
    async close() {
      await tracing?.close();
      limits.close();
      await grants.close();
    },
  };
}
