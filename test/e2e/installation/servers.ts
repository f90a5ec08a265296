/** The servers' pods, as a Service has them, wherever they run. */
import { setTimeout as delay } from "node:timers/promises";
import type { Target } from "../../env/node/balancer.ts";
import { until } from "../../env/until.ts";
import type { WorkloadCluster } from "../workload/cluster.ts";
import { NAMESPACE_OF_PRODUCT } from "../workload/manifests.ts";

/** A pod that takes calls. */
export type ServerPod = Target & {
  readonly name: string;
  /** In the cluster. */
  readonly address: string;
};

export type Servers = {
  /** Those that are ready, by name. */
  ready(): readonly ServerPod[];
  /** The next one in turn, as a Service chooses. */
  next(): ServerPod | undefined;
};

/** Before a watch that ended is begun again, in milliseconds. */
const AGAIN_MS = 200;

type Slice = {
  readonly endpoints:
    | readonly {
        readonly addresses: readonly [string];
        readonly conditions: { readonly ready?: boolean };
        readonly targetRef: { readonly name: string };
      }[]
    | null;
  readonly ports: readonly { readonly port: number }[] | null;
};

/** Follows the Service of the servers until the signal. */
export function followServers(cluster: WorkloadCluster, signal: AbortSignal): Servers {
  let ready: readonly ServerPod[] = [];
  let turn = 0;
  const forwards = new Map<string, Promise<number>>();
  const watch = [
    "get",
    "endpointslices",
    `--namespace=${NAMESPACE_OF_PRODUCT}`,
    "--watch",
    '--output=jsonpath={@}{"\\n"}',
  ];
  const selector = "--selector=kubernetes.io/service-name=keyplane-server";

  async function take(line: string): Promise<void> {
    const { endpoints, ports }: Slice = JSON.parse(line);
    const port = ports?.[0]?.port ?? 0;
    const pods = (endpoints ?? [])
      .filter(({ conditions }) => conditions.ready === true)
      .map(async ({ addresses: [address], targetRef: { name } }) => ({
        name,
        address,
        ...(await reach(name, address, port)),
      }));
    ready = (await Promise.all(pods)).sort((a, b) => a.name.localeCompare(b.name));
  }

  /** Where its nodes are not in our network the API server leads to its pods. */
  async function reach(name: string, address: string, port: number): Promise<Target> {
    if (cluster.product !== undefined) return { host: address, port };
    const forward = forwards.get(name) ?? forwardTo(name, port);
    forwards.set(name, forward);
    return { host: "127.0.0.1", port: await forward };
  }

  async function forwardTo(pod: string, port: number): Promise<number> {
    let local: number | undefined;
    const args = ["port-forward", `--namespace=${NAMESPACE_OF_PRODUCT}`, `pod/${pod}`, `:${port}`];
    void cluster
      .followKubectl(args, signal, (line) => {
        local ??= Number(/127\.0\.0\.1:(\d+) ->/.exec(line)?.[1]);
      })
      .finally(() => forwards.delete(pod));
    return until(`a way to ${pod}`, () => local);
  }

  void (async () => {
    while (!signal.aborted) {
      await cluster.followKubectl([...watch, selector], signal, (line) => void take(line));
      await delay(AGAIN_MS);
    }
  })();
  return { ready: () => ready, next: () => ready[turn++ % ready.length] };
}
