/** What kube-proxy does on a node, for those that have none: connections to one address go on to others. */
import { connect, createServer } from "node:net";
import type { Kubernetes } from "../kubernetes/client.ts";

export type Target = { readonly host: string; readonly port: number };

/** @param choose where the next connection goes, by the address that it is from; one for which there is nowhere is reset */
export async function startBalancer(
  at: Target,
  choose: (from: string) => Target | undefined | Promise<Target | undefined>,
): Promise<{ close(): void }> {
  const server = createServer(async (client) => {
    client.on("error", () => {});
    const target = await choose(client.remoteAddress ?? "");
    if (target === undefined) return client.resetAndDestroy();
    const upstream = connect(target.port, target.host);
    client.on("close", () => upstream.destroy());
    upstream.on("error", () => client.resetAndDestroy()).on("close", () => client.destroySoon());
    client.pipe(upstream).pipe(client);
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(at.port, at.host, resolve);
  await promise;
  return { close: () => void server.close() };
}

/** How often the endpoints of a Service are read, in milliseconds: a balancer hears of changes that late. */
const READ_MS = 200;

/**
 * The ready endpoints of a Service's only port, in turn, as the API server has them.
 *
 * @returns undefined while there is none
 */
export function followService({ request }: Kubernetes, namespace: string, name: string): FollowedService {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=kubernetes.io/service-name=${name}`;
  let ready: readonly Target[] = [];
  let turn = 0;
  const timer = setInterval(async () => {
    const answer = await request("GET", path).catch(() => undefined);
    if (answer?.status === 200) ready = readyIn(answer.body as SliceList);
  }, READ_MS);
  return {
    next: () => ready[turn++ % ready.length],
    close: () => clearInterval(timer),
  };
}

export type FollowedService = { next(): Target | undefined; close(): void };

type SliceList = {
  readonly items: readonly {
    /** Null where there is no pod. */
    readonly ports: readonly [{ readonly port: number }] | null;
    readonly endpoints:
      | readonly {
          readonly addresses: readonly [string];
          readonly conditions: { readonly ready?: boolean };
        }[]
      | null;
  }[];
};

function readyIn({ items }: SliceList): Target[] {
  return items.flatMap(({ ports, endpoints }) => {
    const ready = endpoints?.filter(({ conditions }) => conditions.ready === true) ?? [];
    return (ports ?? []).flatMap(({ port }) => ready.map(({ addresses: [host] }) => ({ host, port })));
  });
}
