#!/usr/bin/env node
/** Entry point of `keyplane`. No other module is loaded until the version of Node is known to suffice. */
import { assertNodeVersion } from "../runtime/node-version.ts";

assertNodeVersion("keyplane");
if (["up", "server", "controller"].includes(process.argv[2] ?? "")) {
  const { returnFreedMemory } = await import("../runtime/freed-memory.ts");
  returnFreedMemory(process);
}
const { endFirstProcess } = await import("../runtime/stop-signal.ts");
endFirstProcess();
const { widenThreadPool } = await import("../runtime/thread-pool.ts");
widenThreadPool(process);
const { main } = await import("./program.ts");
process.exitCode = await main(process.argv.slice(2));
