/** A world on the pair of production whose controller reaches both of them through proxies that can go wrong. */
import type { TestContext } from "vitest";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { type KubernetesSide, makeKubernetesSide } from "../controller/fixtures/kubernetes-side.ts";
import type { WorldSetup } from "../controller/fixtures/world.ts";
import { databaseUrl } from "../env/database/engines.ts";
import { type ApiProxy, startApiProxy } from "../env/kubernetes/api-proxy.ts";
import type { Kubernetes } from "../env/kubernetes/client.ts";
import { startTcpProxy, type TcpProxy } from "../env/tcp-proxy.ts";

export type BehindProxies = {
  readonly setup: WorldSetup;
  /** Once the world has started. */
  readonly side: () => KubernetesSide;
  readonly api: ApiProxy;
  readonly database: TcpProxy;
};

export async function behindProxies(
  context: TestContext,
  kubernetes: Kubernetes,
  setup: WorldSetup,
): Promise<BehindProxies> {
  const url = await databaseUrl(setup.store);
  const [api, database] = await Promise.all([
    startApiProxy(kubernetes),
    startTcpProxy({ host: url.hostname, port: Number(url.port) }),
  ]);
  url.port = String(database.port);
  const store = await openPostgres(url.href);
  let side: KubernetesSide | undefined;
  // The world ends before the ways to what it stands on: what is registered first is done last.
  context.onTestFinished(async () => {
    await store.close();
    await Promise.all([api.close(), database.close()]);
  });
  return {
    api,
    database,
    side() {
      if (side === undefined) throw new Error("the world has not started");
      return side;
    },
    setup: {
      ...setup,
      wrap: (cluster) => ({ cluster, store }),
      async side(shift) {
        side = await makeKubernetesSide(kubernetes, shift, { kubeconfig: api.kubeconfigPath });
        return side;
      },
    },
  };
}
