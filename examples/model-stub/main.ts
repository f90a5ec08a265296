/** Runs the stub: `node examples/model-stub/main.ts --port 9100`. It answers until it is stopped. */
import { parseArgs } from "node:util";
import { startModelStub } from "./stub.ts";

const { values } = parseArgs({ options: { port: { type: "string", default: "9100" } } });
const port = Number(values.port);
if (!Number.isInteger(port) || port < 0 || port > 65_535) {
  console.error(`--port must be a port number, not ${values.port}`);
  process.exit(2);
}
const stub = await startModelStub(port);
console.log(`model stub, no model behind it: ${stub.url}`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stub.close());
