/** A global setup: one Kubernetes control plane for the test files of a project. */
import type { TestProject } from "vitest/node";
import { openDesk } from "../desk.ts";
import { startKubernetes } from "../kubernetes.ts";
import type { KubernetesAddress } from "./client.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The desk that answers with a {@link KubernetesAddress}. */
    kubernetesPort: number;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const desk = await openDesk<KubernetesAddress>(async () => {
    const { address, close } = await startKubernetes({ controllerManager: true, audit: true });
    return { details: address, stop: close };
  });
  project.provide("kubernetesPort", desk.port);
  return () => desk.close();
}
