import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { StartedKubernetes } from "./kubernetes.ts";
import { type Serving, startServing } from "./serving.ts";

/** `keyplane controller` as a process of its own; its URL is that of its admin listener. */
export type ControllerProcess = Serving;

export type ControllerProcessOptions = {
  readonly kubeconfig: string;
  readonly databaseUrl: string;
  readonly encryptionKey: string;
  readonly flags?: readonly string[];
  /** Of Node itself, as `--cpu-prof`. */
  readonly nodeFlags?: readonly string[];
};

/**
 * Writes a kubeconfig for the ServiceAccount that infra/rbac makes, as its pod would have it.
 *
 * @returns the file's path
 */
export async function accountKubeconfig(kubernetes: StartedKubernetes): Promise<string> {
  const path = join(kubernetes.address.folder, "controller.kubeconfig");
  const token = await kubernetes.createToken("keyplane-system", "keyplane-controller");
  await writeFile(path, await kubernetes.kubeconfig(token, "keyplane-system"), { mode: 0o600 });
  return path;
}

/** Starts a controller, and waits until it is ready, be it leader or not. */
export function startControllerProcess(options: ControllerProcessOptions): Promise<ControllerProcess> {
  const { kubeconfig, databaseUrl, encryptionKey, flags = [], nodeFlags = [] } = options;
  const args = ["controller", "--kubeconfig", kubeconfig, "--admin-port", "0", ...flags];
  const env = { KEYPLANE_DATABASE_URL: databaseUrl, KEYPLANE_ENCRYPTION_KEY: encryptionKey };
  return startServing(args, env, nodeFlags);
}
