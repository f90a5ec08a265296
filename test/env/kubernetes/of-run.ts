import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, inject } from "vitest";
import type { KubernetesOfRun } from "../global-setup.ts";
import { connectKubernetes, type Kubernetes } from "./client.ts";

/** Asked for by importing this file. In CI a missing component is a failure; elsewhere its tests are skipped. */
const answer: KubernetesOfRun = JSON.parse(await text(connect(inject("kubernetesPort"), "127.0.0.1")));
if ("failed" in answer) throw new Error(answer.failed);
if ("missing" in answer && process.env.CI === "true") throw new Error(answer.missing);

/** Why there is no Kubernetes for tests, or undefined when there is one. */
const missing = "missing" in answer ? answer.missing : undefined;
const kubernetes = "missing" in answer ? undefined : await connectKubernetes(answer);

/**
 * For promises on a real control plane, with `crds/` installed, a controller manager and an audit log. All files of the
 * run share it: each keeps to namespaces of its own. Without one the tests are skipped, with the reason in their name.
 */
export function describeOnKubernetes(promise: string, tests: (kubernetes: () => Kubernetes) => void): void {
  const reason = missing === undefined ? "" : ` (skipped: ${missing})`;
  describe.skipIf(missing !== undefined)(`${promise}, on Kubernetes${reason}`, () => {
    tests(() => {
      if (kubernetes === undefined) throw new Error(`no Kubernetes: ${missing}`);
      return kubernetes;
    });
  });
}
