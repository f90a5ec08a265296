import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { until } from "../until.ts";
import type { Kubernetes } from "./client.ts";
import { applyAll } from "./server-side-apply.ts";

type Definition = {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
};

/**
 * Installs CustomResourceDefinitions of others, from files with one each or folders of those, and waits until the API
 * server serves them.
 */
export async function installKinds(kubernetes: Kubernetes, ...paths: readonly string[]): Promise<void> {
  const files = (await Promise.all(paths.map(filesAt))).flat();
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  for (const text of texts) await applyAll(kubernetes, text);
  for (const { metadata } of texts.map((text): Definition => parse(text))) {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${metadata.name}`;
    await until(`${metadata.name} is served`, async () => {
      const { status } = (await kubernetes.request("GET", path)).body as Definition;
      return status?.conditions?.some(({ type, status }) => type === "Established" && status === "True");
    });
  }
}

async function filesAt(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  return (await readdir(path)).map((name) => join(path, name));
}
