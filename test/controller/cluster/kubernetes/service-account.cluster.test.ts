import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createApiClient } from "../../../../controller/cluster/kubernetes/api/api-client.ts";
import { connect } from "../../../../controller/cluster/kubernetes/api/connection.ts";
import { serviceAccountNamespace } from "../../../../controller/cluster/kubernetes/api/service-account.ts";
import { describeOnKubernetes } from "../../../env/kubernetes/of-run.ts";
import { clock } from "./fake-api-server.ts";

describeOnKubernetes("the controller's namespace", (kubernetes) => {
  it("is its ServiceAccount's, also where a kubeconfig names another or none, and none for a person", async (context) => {
    const folder = await mkdtemp(join(tmpdir(), "keyplane-account-"));
    context.onTestFinished(() => rm(folder, { recursive: true }));
    const namespace = "runs-here";
    const post = (path: string, body: object) => kubernetes().request("POST", path, { body: JSON.stringify(body) });
    await post("/api/v1/namespaces", { metadata: { name: namespace } });
    await post(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: "controller" } });
    const token = await kubernetes().createToken(namespace, "controller");

    async function foundBy(kubeconfig: string): Promise<string | undefined> {
      const api = createApiClient({ connection: connect(kubeconfig, clock), random: Math.random, log: () => {} });
      context.onTestFinished(() => api.close());
      return serviceAccountNamespace(api);
    }
    for (const named of [undefined, "default"]) {
      const file = join(folder, `${named}.kubeconfig`);
      await writeFile(file, await kubernetes().kubeconfig(token, named));
      expect(await foundBy(file)).toBe(namespace);
    }
    expect(await foundBy(kubernetes().kubeconfigPath)).toBeUndefined();
  });
});
