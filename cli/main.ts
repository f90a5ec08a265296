#!/usr/bin/env node
/** The `keyplane` command. Nothing else is loaded before Node is known to have what it needs. */
import { assertNodeVersion } from "../runtime/node-version.ts";

assertNodeVersion("keyplane");
const { endFirstProcess } = await import("../runtime/stop-signal.ts");
endFirstProcess();
// Node looks up names in half of these threads, a slow one for as long as its servers take (threats b101).
process.env.UV_THREADPOOL_SIZE ??= "16";
const { main } = await import("./program.ts");
process.exitCode = await main(process.argv.slice(2));
