/** `npm start`: the embedded default on the manifests beside this file, with the model stub as its provider. */
import { join } from "node:path";
import { main } from "../../cli/program.ts";
import { startModelStub } from "../model-stub/stub.ts";

/** Where the gateway's manifest expects the stub. */
const STUB_PORT = 9100;

const stub = await startModelStub(STUB_PORT).catch((error: unknown) => {
  process.stderr.write(`keyplane: port ${STUB_PORT} is needed for the model stub: ${String(error)}\n`);
  process.exit(1);
});
const manifests = join(import.meta.dirname, "manifests");
process.exitCode = await main(["up", "--manifests", manifests, "--data", ".keyplane", ...process.argv.slice(2)]);
await stub.close();
