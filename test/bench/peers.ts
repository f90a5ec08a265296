import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../env/free-port.ts";
import { type Contestant, findProgram, type Processes } from "./processes.ts";
import { type Call, PROVIDER_CREDENTIAL } from "./traffic.ts";

/** Another gateway on the same upstream. */
export type Peer = { readonly contestant: Contestant; readonly call: Call };
/** Those that are installed here, and a line for each that is not. */
export type Peers = { readonly peers: readonly Peer[]; readonly missing: readonly string[] };

const PATH = "/v1/chat/completions";

/**
 * Starts the peers that are installed: `PORTKEY_BIN` names the Portkey gateway's `start-server.js` (npm package
 * `@portkey-ai/gateway`), `LITELLM_BIN` the program `litellm` (PyPI, `litellm[proxy]`).
 */
export async function startPeers(processes: Processes, folder: string, upstreamPort: number): Promise<Peers> {
  const peers: Peer[] = [];
  const missing: string[] = [];
  const [portkey, litellm] = [findProgram("portkey"), findProgram("litellm")];
  if (portkey === undefined) missing.push("The Portkey gateway was not measured: PORTKEY_BIN names none.");
  else peers.push(await startPortkey(processes, portkey, upstreamPort));
  if (litellm === undefined)
    missing.push("LiteLLM was not measured: there is no litellm here, and LITELLM_BIN names none.");
  else peers.push(await startLiteLlm(processes, litellm, folder, upstreamPort));
  return { peers, missing };
}

/** It checks no key of its own: a client names the upstream, and its credential passes through. */
async function startPortkey(processes: Processes, program: string, upstreamPort: number): Promise<Peer> {
  const port = await freePort();
  const args = [program, `--port=${port}`, "--headless"];
  const contestant = await processes.start({
    name: "portkey",
    command: process.execPath,
    args,
    port,
    stderr: "ignore",
  });
  const headers = ["x-portkey-provider: openai", `x-portkey-custom-host: http://127.0.0.1:${upstreamPort}/v1`];
  return { contestant, call: { path: PATH, keys: [PROVIDER_CREDENTIAL], headers } };
}

/** With one key, the master key: others need its database. */
async function startLiteLlm(
  processes: Processes,
  program: string,
  folder: string,
  upstreamPort: number,
): Promise<Peer> {
  const port = await freePort();
  const file = join(folder, "litellm.json");
  const masterKey = `sk-${randomBytes(16).toString("hex")}`;
  const model = "gpt-5-mini";
  const upstream = {
    model: `openai/${model}`,
    api_base: `http://127.0.0.1:${upstreamPort}/v1`,
    api_key: PROVIDER_CREDENTIAL,
  };
  // JSON is YAML.
  const config = {
    model_list: [{ model_name: model, litellm_params: upstream }],
    general_settings: { master_key: masterKey },
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  const args = ["--config", file, "--host", "127.0.0.1", "--port", String(port), "--num_workers", "1"];
  const env = { LITELLM_LOCAL_MODEL_COST_MAP: "True" };
  const contestant = await processes.start({ name: "litellm", command: program, args, port, env, stderr: "ignore" });
  return { contestant, call: { path: PATH, keys: [masterKey] } };
}
