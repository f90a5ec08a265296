/**
 * A process of its own that replaces a Secret over and over, to be killed: `secret-writer.ts DATA`. Each value is one
 * character many times, the same in both data keys, so that a mixture shows.
 */
import { randomUUID } from "node:crypto";
import { openFilesCluster } from "../../../../../controller/cluster/files/cluster.ts";

const data = process.argv[2] ?? "";
const clock = { now: () => Date.now(), monotonic: () => performance.now() };
const cluster = await openFilesCluster({
  manifests: `${data}-manifests`,
  data,
  clock,
  randomUuid: randomUUID,
  log: () => {},
});
const draft = (value: string) => ({
  namespace: "dev",
  name: "written",
  data: { "api-key": value, "mcp.json": value },
  labels: {},
  annotations: {},
  owner: { apiVersion: "keyplane.dev/v1beta1", uid: "owner-1", name: "written", byReference: true },
});
const value = (n: number) => String.fromCharCode(97 + (n % 26)).repeat(200_000);
let secret = (await cluster.readSecret("dev", "written")) ?? (await cluster.createSecret(draft(value(0))));
console.log("writing");
for (let n = 1; ; n++) secret = await cluster.replaceSecret(secret, draft(value(n)));
