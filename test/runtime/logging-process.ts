/**
 * A process that serves, on the port that is its first argument, and logs as many lines as a request asks for:
 * `/log/20000`. `/long` logs one of 2 MiB, and `/fail` has the process end by an error. An answer is how many lines were
 * dropped. With `worker` as its second argument a worker thread does all that. With `two` a worker thread logs beside the
 * main thread: `/beside/500` has each log as many lines of 8,000 bytes.
 */
import { createServer } from "node:http";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { createLog, droppedLogLines } from "../../runtime/log.ts";

const log = createLog("info");
const LONG = "-".repeat(8_000);
const [port, thread] = process.argv.slice(2);

if (isMainThread && thread === "worker") {
  const worker = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) });
  process.on("SIGTERM", () => worker.postMessage("end"));
  worker.on("exit", (code) => process.exit(code));
} else if (!isMainThread && thread === "two") {
  parentPort?.on("message", (count: number) => logLong(count));
} else {
  serve();
  process.on("SIGTERM", () => process.exit(0));
  parentPort?.on("message", () => process.exit(0));
}

/** In turns of the event loop, so that another thread's lines come between. */
function logLong(count: number): void {
  log.info({}, LONG);
  if (count > 1) setImmediate(() => logLong(count - 1));
}

function serve(): void {
  let seq = 0;
  const beside = thread === "two" ? new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) }) : undefined;
  const server = createServer((request, response) => {
    const [, what, count = "0"] = (request.url ?? "").split("/");
    if (what === "log") for (let i = 0; i < Number(count); i++) log.info({ seq: seq++ }, "a line of the log");
    if (what === "long") log.info({}, "-".repeat(2 * 1024 * 1024));
    if (what === "beside") {
      beside?.postMessage(Number(count));
      logLong(Number(count));
    }
    response.end(String(droppedLogLines()));
    if (what === "fail") setImmediate(() => Promise.reject(new Error("it fails")));
  });
  server.listen(Number(port), "127.0.0.1");
}
