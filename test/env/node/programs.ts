import { execFile } from "node:child_process";
import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { fillOnce } from "../database/fill-once.ts";
import { BuildError, cacheFolder } from "../go/go-build.ts";
import { buildKubernetes } from "../kubernetes/build.ts";

const run = promisify(execFile);

/** Debian's packages of what runs containers. What they need in turn, apt itself needs too. */
const PACKAGES = ["containerd", "runc", "containernetworking-plugins"];

/** The paths of what makes a machine a node. */
export type NodePrograms = {
  readonly kubelet: string;
  readonly scheduler: string;
  /** Of containerd, its shim and its `ctr`. */
  readonly binFolder: string;
  readonly runc: string;
  readonly cniFolder: string;
};

/** This machine can be no node; the message says what would help. */
export class NodeMissingError extends Error {}

/**
 * The programs of a node, from our cache. Where they are not there Go builds Kubernetes' own into it, which takes
 * minutes, and apt downloads Debian's packages, which are unpacked there and not installed.
 *
 * @throws {NodeMissingError} where there is no Go or no apt
 */
export async function findNodePrograms(): Promise<NodePrograms> {
  const cache = await cacheFolder("node", ["kubernetes/apiserver"]);
  try {
    await fillOnce(cache, async (folder) => {
      await unpackPackages(folder);
      await buildKubernetes(["kubelet", "kube-scheduler"], folder);
    });
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    throw new NodeMissingError(error.message, { cause: error });
  }
  return {
    kubelet: join(cache, "kubelet"),
    scheduler: join(cache, "kube-scheduler"),
    binFolder: join(cache, "debian/usr/bin"),
    runc: join(cache, "debian/usr/sbin/runc"),
    cniFolder: join(cache, "debian/usr/lib/cni"),
  };
}

async function unpackPackages(folder: string): Promise<void> {
  const downloads = join(folder, "downloads");
  await mkdir(downloads);
  const download = () => run("apt-get", ["--quiet", "download", ...PACKAGES], { cwd: downloads });
  try {
    // The lists of packages may be missing, or older than the mirror.
    await download().catch(async () => {
      await run("apt-get", ["--quiet", "update"]);
      await download();
    });
    for (const file of await readdir(downloads)) {
      await run("dpkg", ["--extract", join(downloads, file), join(folder, "debian")]);
    }
  } catch (error) {
    const { code, stderr = "" } = error as { code?: unknown; stderr?: string };
    const why = code === "ENOENT" ? "there is no apt" : stderr.trim().slice(-300);
    throw new NodeMissingError(`no ${PACKAGES.join(", ")} (${why})`, { cause: error });
  }
  await rm(downloads, { recursive: true });
}
