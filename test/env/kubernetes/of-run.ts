import { describe, inject } from "vitest";
import { askDesk } from "../desk.ts";
import { connectKubernetes, type Kubernetes, type KubernetesAddress } from "./client.ts";

/** Started by importing this file. */
const kubernetes = await connectKubernetes(await askDesk<KubernetesAddress>(inject("kubernetesPort")));

/**
 * For promises on a real control plane, with `crds/` installed, a controller manager and an audit log. All files of the
 * run share it: each keeps to namespaces of its own.
 */
export function describeOnKubernetes(promise: string, tests: (kubernetes: () => Kubernetes) => void): void {
  describe(`${promise}, on Kubernetes`, () => tests(() => kubernetes));
}
