import { readFile } from "node:fs/promises";
import { describe, expect, it, type TestContext } from "vitest";
import { describeOnKubernetes } from "../../../env/kubernetes/of-run.ts";
import { startTcpProxy } from "../../../env/tcp-proxy.ts";
import { until } from "../../../env/until.ts";
import { clock } from "./fake-api-server.ts";
import { applyKey, openCluster } from "./opened.ts";

describeOnKubernetes("a network that goes wrong between the controller and the API server", (kubernetes) => {
  async function openThroughProxy(context: TestContext) {
    const proxy = await startTcpProxy({ host: "127.0.0.1", port: Number(new URL(kubernetes().url).port) });
    context.onTestFinished(() => proxy.close());
    const opened = await openCluster(context, kubernetes(), { server: `https://127.0.0.1:${proxy.port}` });
    return { proxy, ...opened };
  }

  describe.concurrent("both of which wait", () => {
    it("c17: a watch that has silently died is opened again within 30 s, from where it was", async (context) => {
      const { proxy, cluster, namespace, watch } = await openThroughProxy(context);
      await applyKey(kubernetes(), namespace, "before", { preset: "MCPReadOnly" });
      await watch();
      await until("the Secrets are watched too", () =>
        [...cluster.heardAt.keys()].some((one) => one.includes("Secret")),
      );
      proxy.freeze();
      const frozenAt = clock.monotonic();
      await applyKey(kubernetes(), namespace, "meanwhile", { preset: "MCPReadOnly" });
      const silence = () => clock.monotonic() - Math.max(...cluster.heardAt.values());
      await until("nothing is heard", () => silence() > 3_000);
      proxy.thaw();
      await until("what was missed is heard of", () => cluster.get("PlatformKey", namespace, "meanwhile"), {
        timeoutMs: 30_000 - (clock.monotonic() - frozenAt),
      });
      await until("all of them are heard of again", () => Math.min(...cluster.heardAt.values()) > frozenAt + 3_000);
      const log = await readFile(kubernetes().auditLog ?? expect.fail("there is no audit log"), "utf8");
      expect(log.split(`/namespaces/${namespace}/platformkeys?limit=500`)).toHaveLength(2);
    });

    it("a write that falls into a black hole is unclear, and the next one goes through", async (context) => {
      const { proxy, cluster, namespace } = await openThroughProxy(context);
      const draft = { namespace, name: "reader", data: { a: "b" }, labels: {}, annotations: {}, owner: null };
      await cluster.readSecret(namespace, "reader");
      proxy.freeze();
      await expect(cluster.createSecret(draft)).rejects.toMatchObject({ code: "Unclear" });
      proxy.thaw();
      await cluster.createSecret(draft);
    });
  });
});
