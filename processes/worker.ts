/** Entry of a worker thread: serves the public port by the index of the main thread. Started by `workers.ts` alone. */
import { parentPort, workerData } from "node:worker_threads";
import { UNSTORED_VERSION } from "../domain/access/key-record.ts";
import type { Clock } from "../runtime/clock.ts";
import { systemClock } from "../runtime/clock.ts";
import { createLog, flushLog } from "../runtime/log.ts";
import { sampleLog } from "../runtime/log-sampler.ts";
import { logWarnings } from "../runtime/process-faults.ts";
import { observeProcess } from "../runtime/process-metrics.ts";
import { openConfiguredToken } from "../server/auth/management/bootstrap-token.ts";
import { AUDIT_FLUSH_MS, RefusalSampler } from "../server/auth/refusals/refusals.ts";
import { CALL_LIMITS, StreamRegistry } from "../server/calls/open-streams.ts";
import { SharedCalls } from "../server/calls/shared-calls.ts";
import { IndexMirror } from "../server/key-index/index-mirror.ts";
import { Lease } from "../server/key-index/lease.ts";
import { sharedCells } from "../server/key-index/shared-cells.ts";
import { REVALIDATION_INTERVAL_MS, revalidateStreams } from "../server/key-index/stream-revalidation.ts";
import { openPrices } from "../server/usage/price-file.ts";
import { UseNotes } from "../server/usage/use-notes.ts";
import { openPostgres } from "../store/database/postgres/postgres.ts";
import { createListeners } from "./listeners.ts";
import { createMetrics } from "./metrics.ts";
import { products } from "./products.ts";
import { openServingThread } from "./serving-thread.ts";
import { configOf, type ToWorker, type WorkerReport, type WorkerStart } from "./worker-protocol.ts";

/**
 * Milliseconds between two reports of a worker on the keys that were used, the number of requests, and what they used.
 */
const TELL_MS = 1_000;

const main = parentPort;
if (main === null) throw new Error("this file is a worker's, not a program");
// What `workers.ts` has put there.
const start = workerData as WorkerStart;

const report = (message: WorkerReport) => main.postMessage(message);
const log = sampleLog(createLog(start.config.logLevel));
logWarnings(log);
const store = await openPostgres(start.database);
const metrics = createMetrics();
observeProcess(metrics.registry);
const streams = new StreamRegistry(metrics.countCutStream, CALL_LIMITS, new SharedCalls(start.calls));
const cells = sharedCells(start.cells);
const lease = Lease.read(systemClock, cells.lease);
const revalidate = () => revalidateStreams(streams, lease, (record) => index.findPresent(record));
// In an event-loop iteration of its own: a message may be taken in in the middle of a decision.
const index: IndexMirror = new IndexMirror({
  port: start.messages,
  cells,
  lease,
  onChanged: () => setImmediate(revalidate),
});
const refusals = new RefusalSampler({
  ...{ store, metrics, log, replica: start.replicaId },
  clock: lease,
  threads: start.config.workers,
});
const usage = new UseNotes((key, at) => {
  if (key.version !== UNSTORED_VERSION) index.noteUse(key, at);
}, metrics.countTokens);
const tellUsage = () => {
  const used = usage.drain();
  if (used !== undefined) report({ kind: "used", report: used });
};
const config = configOf(start.config);
const clock: Clock = { now: () => lease.now(), monotonic: systemClock.monotonic };
const bootstrapToken = await openConfiguredToken(config);
const prices = await openPrices(config.pricesFile);
const thread = await openServingThread({
  ...{ store, index, streams, usage, prices, refusals, metrics, log, config, clock, cells },
  keyring: start.keyring,
  managementToken: start.managementToken ?? bootstrapToken ?? null,
  replicaId: start.replicaId,
  threads: config.workers,
});
const listeners = await createListeners(thread.deps, streams, products(thread.memory));
const timers = [
  setInterval(revalidate, REVALIDATION_INTERVAL_MS),
  setInterval(tellUsage, TELL_MS),
  setInterval(() => void refusals.flush(), AUDIT_FLUSH_MS),
];

main.on("message", async (message: ToWorker) => {
  if (message.ask === "metrics") {
    report({ kind: "metrics", id: message.id, metrics: await metrics.registry.getMetricsAsJSON() });
    return;
  }
  if (message.ask === "listen") {
    report({ kind: "listening", ...(await listeners.listen(message.ports, true)) });
    return;
  }
  await listeners.drain(message.graceMs);
  await thread.embedder.close();
  bootstrapToken?.close();
  await prices.close();
  for (const timer of timers) clearInterval(timer);
  await thread.close();
  tellUsage();
  await refusals.close();
  await store.close();
  flushLog();
  report({ kind: "drained" });
});

report({ kind: "open" });
