/**
 * A process that serves, on the port that is its first argument, and logs as many lines as a request asks for:
 * `/log/20000`. `/long` logs one of 2 MiB, and `/fail` has the process end by an error. An answer is how many lines were
 * dropped. With `worker` as its second argument a worker thread does all that.
 */
import { createServer } from "node:http";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { createLog, droppedLogLines } from "../../runtime/log.ts";

const log = createLog("info");
const [port, thread] = process.argv.slice(2);

if (isMainThread && thread === "worker") {
  const worker = new Worker(new URL(import.meta.url), { argv: process.argv.slice(2) });
  process.on("SIGTERM", () => worker.postMessage("end"));
  worker.on("exit", (code) => process.exit(code));
} else {
  serve();
  process.on("SIGTERM", () => process.exit(0));
  parentPort?.on("message", () => process.exit(0));
}

function serve(): void {
  let seq = 0;
  const server = createServer((request, response) => {
    const [, what, count = "0"] = (request.url ?? "").split("/");
    for (let i = 0; i < Number(count); i++) log.info({ seq: seq++ }, "a line of the log");
    if (what === "long") log.info({}, "-".repeat(2 * 1024 * 1024));
    response.end(String(droppedLogLines()));
    if (what === "fail") setImmediate(() => Promise.reject(new Error("it fails")));
  });
  server.listen(Number(port), "127.0.0.1");
}
