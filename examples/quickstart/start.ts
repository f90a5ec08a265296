/** `npm start`: the embedded default on the manifests beside this file, with the model stub as its provider. */
import { join } from "node:path";
import { main } from "../../cli/program.ts";
import { startModelStub } from "../model-stub/stub.ts";

/** Where the gateway's manifest expects the stub. */
const stubPort = Number(process.env.MODEL_STUB_PORT ?? 9100);

const stub = await startModelStub(stubPort).catch((error: unknown) => {
  const otherwise = "or set MODEL_STUB_PORT, and baseURL in examples/quickstart/manifests/gateway.yaml, to another";
  process.stderr.write(`keyplane: the model stub cannot listen: ${String(error)}: free the port, ${otherwise}\n`);
  process.exit(1);
});
const manifests = join(import.meta.dirname, "manifests");
process.exitCode = await main(["up", "--manifests", manifests, "--data", ".keyplane", ...process.argv.slice(2)]);
await stub.close();
