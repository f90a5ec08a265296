import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fillOnce } from "../database/fill-once.ts";
import { BuildError, cacheFolder, goBuild } from "../go/go-build.ts";
import { buildKubernetes } from "./build.ts";

const OF_KUBERNETES = ["kube-apiserver", "kube-controller-manager", "kubectl"] as const;
const NAMES = ["etcd", ...OF_KUBERNETES] as const;

/** The path of each program of a control plane. */
export type Binaries = Readonly<Record<(typeof NAMES)[number], string>>;

/** There is no control plane to be had on this machine; the message says what would help. */
export class KubernetesMissingError extends Error {}

/**
 * The programs of a Kubernetes control plane, all of them from the first place that has them all: the folder that
 * KUBEBUILDER_ASSETS names, our cache, PATH. Where none has, Go builds them into the cache, which takes minutes.
 *
 * @throws {KubernetesMissingError} where they can be neither found nor built
 */
export async function findBinaries(): Promise<Binaries> {
  const { KUBEBUILDER_ASSETS: given = "", PATH = "" } = process.env;
  const cache = await cacheFolder("kubernetes", ["kubernetes/apiserver", "kubernetes/etcd"]);
  const known = allFrom([given]) ?? allFrom([cache]) ?? allFrom(PATH.split(delimiter));
  if (known) return known;
  try {
    await fillOnce(cache, build);
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    throw new KubernetesMissingError(
      `no Kubernetes control plane (${error.message}): install Go, or name a folder with ${NAMES.join(", ")} in KUBEBUILDER_ASSETS`,
      { cause: error },
    );
  }
  const built = allFrom([cache]);
  if (built === undefined) throw new Error(`${cache} lacks one of ${NAMES.join(", ")}: remove the folder`);
  return built;
}

function allFrom(folders: readonly string[]): Binaries | undefined {
  const found = NAMES.map((name) => {
    const folder = folders.find((folder) => folder !== "" && existsSync(join(folder, name)));
    return [name, folder && join(folder, name)] as const;
  });
  return found.every(([, path]) => path !== undefined) ? (Object.fromEntries(found) as Binaries) : undefined;
}

async function build(folder: string): Promise<void> {
  await goBuild("kubernetes/etcd", ["go.etcd.io/etcd/server/v3"], join(folder, "etcd"));
  await buildKubernetes(OF_KUBERNETES, folder);
}
