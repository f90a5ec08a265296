import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { goBuild, goModule } from "../go/go-build.ts";

/** Builds programs of Kubernetes into a folder. */
export async function buildKubernetes(names: readonly string[], folder: string): Promise<void> {
  const packages = names.map((name) => `k8s.io/kubernetes/cmd/${name}`);
  await goBuild("kubernetes/apiserver", packages, `${folder}/`, { flags: await versionFlags() });
}

/** A build from modules does not know its version, and kubectl refuses to talk to a server without one. */
async function versionFlags(): Promise<string> {
  const text = await readFile(join(goModule("kubernetes/apiserver"), "go.mod"), "utf8");
  const [, version, major, minor] = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\d+)/.exec(text) ?? [];
  if (version === undefined) throw new Error("apiserver/go.mod names no version of k8s.io/kubernetes");
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  return Object.entries(values)
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(" ");
}
