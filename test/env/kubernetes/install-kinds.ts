import { until } from "../until.ts";
import type { Kubernetes } from "./client.ts";

/** Installs CustomResourceDefinitions of others, from files or folders, and waits until the API server serves them. */
export async function installKinds({ kubectl, runKubectl }: Kubernetes, ...paths: readonly string[]): Promise<void> {
  const files = paths.map((path) => `--filename=${path}`);
  await kubectl(["apply", "--server-side", ...files]);
  // kubectl refuses to wait for what has no conditions yet.
  const wait = ["wait", "--for=condition=Established", "--timeout=10s", ...files];
  await until("the kinds are served", async () => (await runKubectl(wait)).code === 0);
}
