/**
 * Runs `npm start`: the embedded default on the manifests beside this file, with the model stub as its provider; with
 * `--example NAME` on the manifests of a real provider, whose credential comes from the environment.
 */
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { returnFreedMemory } from "../../runtime/freed-memory.ts";

returnFreedMemory(process);
// Node keeps there what it compiles, for the next start. Threads find the folder in the variable.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "../../node_modules/.cache/keyplane/compiled");
enableCompileCache();
const { main } = await import("../../cli/program.ts");
const { lockData } = await import("../../controller/cluster/files/lock.ts");
const { errorText } = await import("../../domain/error-text.ts");
const { systemClock } = await import("../../runtime/clock.ts");
const { startModelStub } = await import("../model-stub/stub.ts");
const { CREDENTIAL_VARIABLES, keepCredential } = await import("./provider-credential.ts");

/** Port at which the gateway's manifest expects the stub. */
const stubPort = Number(process.env.MODEL_STUB_PORT ?? 9100);

const { values, tokens } = parseArgs({
  options: { example: { type: "string" }, data: { type: "string" } },
  strict: false,
  tokens: true,
});
const example = tokens.find((token) => token.kind === "option" && token.name === "example");
const given = process.argv.slice(2);
if (example !== undefined) given.splice(example.index, example.kind === "option" && example.inlineValue ? 1 : 2);

process.exitCode = await start();

function start(): Promise<number> {
  if (given.includes("--help") || given.includes("-h")) return main(["up", "--help"]);
  return example === undefined ? startQuickstart() : startProvider(String(values.example));
}

async function startQuickstart(): Promise<number> {
  await waitUntilFree(typeof values.data === "string" ? values.data : ".keyplane");
  const stub = await startModelStub(stubPort).catch((error: unknown) => {
    const otherwise = "or set MODEL_STUB_PORT to one from 9101 to 9199";
    const manifest = "each baseURL in examples/quickstart/manifests/gateway.yaml";
    return fail(
      1,
      `the model stub cannot listen: ${String(error)}: free the port, ${otherwise}, and ${manifest} likewise`,
    );
  });
  const manifests = join(import.meta.dirname, "manifests");
  const code = await main(["up", "--manifests", manifests, "--data", ".keyplane", ...given]);
  await stub.close();
  return code;
}

/** Waits for another start on the data folder: its model stub has the port, too. */
async function waitUntilFree(data: string): Promise<void> {
  if (!existsSync(data)) return;
  const onWait = (message: string) => void process.stderr.write(`keyplane: ${message}\n`);
  const lock = await lockData(data, { clock: systemClock, onWait }).catch((error: unknown) =>
    fail(2, errorText(error)),
  );
  lock.release();
}

async function startProvider(name: string): Promise<number> {
  const variable = CREDENTIAL_VARIABLES.get(name);
  if (variable === undefined) {
    fail(2, `--example: must be one of ${[...CREDENTIAL_VARIABLES.keys()].join(", ")}`);
  }
  // As `keyplane env` gives it to the provider's SDK, in the same variable.
  if (process.env[variable]?.trim().startsWith("inf_")) {
    const otherwise = "unset the variable, or give the provider's credential";
    fail(2, `${variable} holds a key of Keyplane, which is not for the provider: ${otherwise}`);
  }
  const data = typeof values.data === "string" ? values.data : `.keyplane-${name}`;
  const isThere = await keepCredential(data, name, process.env[variable]).catch((error: unknown) =>
    fail(1, errorText(error)),
  );
  if (!isThere) {
    fail(2, `there is no credential for ${name} yet: give it in the variable ${variable}, this once`);
  }
  return main(["up", "--manifests", join(import.meta.dirname, "..", name), "--data", data, ...given]);
}

function fail(code: number, message: string): never {
  process.stderr.write(`keyplane: ${message}\n`);
  process.exit(code);
}
