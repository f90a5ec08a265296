/**
 * A process that wants to lead, for tests: `KUBECONFIG NAMESPACE IDENTITY`. While it leads it writes its identity into the
 * ConfigMap `leader` for as long as it may. It says `leads`, `wrote`, and how it ended. SIGUSR2 makes its event loop stand
 * still for 16 s.
 */
import { setTimeout as delay } from "node:timers/promises";
import { createApiClient } from "../../../../controller/cluster/kubernetes/api/api-client.ts";
import { connect } from "../../../../controller/cluster/kubernetes/api/connection.ts";
import { runAsLeader } from "../../../../controller/cluster/kubernetes/lease.ts";
import { clock } from "./fake-api-server.ts";

const [kubeconfig = "", namespace = "", identity = ""] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);
const log = (_level: string, message: string) => say(`log ${message}`);
const api = createApiClient({ connection: connect(kubeconfig, clock), random: Math.random, log });
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
process.on("SIGUSR2", () => {
  const until = performance.now() + 16_000;
  while (performance.now() < until);
  say("stood still");
});

async function lead(signal: AbortSignal): Promise<void> {
  say("leads");
  while (!signal.aborted) {
    try {
      await api.request({
        method: "PATCH",
        path: `/api/v1/namespaces/${namespace}/configmaps/leader`,
        contentType: "application/merge-patch+json",
        body: { data: { leader: identity } },
      });
      say("wrote");
    } catch (error) {
      say(`refused ${error}`);
    }
    await delay(10);
  }
}

try {
  await runAsLeader(
    { api, namespace, name: "controller", identity, served: null, clock, random: Math.random, log },
    lead,
    stop.signal,
  );
  say("ended");
} catch (error) {
  say(`failed ${error instanceof Error ? error.name : error}`);
}
api.close();
