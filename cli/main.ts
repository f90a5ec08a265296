#!/usr/bin/env node
/** The `keyplane` command. Nothing else is loaded before Node is known to have what it needs. */
import { assertNodeVersion } from "../runtime/node-version.ts";

assertNodeVersion("keyplane");
const { endFirstProcess } = await import("../runtime/stop-signal.ts");
endFirstProcess();
const { widenThreadPool } = await import("../runtime/thread-pool.ts");
widenThreadPool(process);
const { main } = await import("./program.ts");
process.exitCode = await main(process.argv.slice(2));
