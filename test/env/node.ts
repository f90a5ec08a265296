import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { type Program, startProgram } from "./kubernetes/program.ts";
import { type StartedKubernetes, startKubernetes } from "./kubernetes.ts";
import { startBalancer } from "./node/balancer.ts";
import { containerdConfig, kubeletConfig, networkConfig, PAUSE_IMAGE, SOCKET } from "./node/config.ts";
import { type Files, packImage } from "./node/image.ts";
import { API_SERVER_ADDRESS, CGROUP_VARIABLE, NODE_ADDRESS } from "./node/namespaces.ts";
import { findNodePrograms, type NodePrograms } from "./node/programs.ts";
import { until } from "./until.ts";

/** For the containers of pods. Its command is Node.js, and it has the command `keyplane` of this checkout. */
export const IMAGE = "localhost/keyplane:test";
export const KEYPLANE_IN_IMAGE = "/keyplane/cli/main.ts";
/** The same with the command `keyplane`, of this version. */
export const KEYPLANE_IMAGE = "localhost/keyplane";

const ROOT = join(import.meta.dirname, "../..");

const run = promisify(execFile);

/**
 * Starts a cluster of one node: a control plane, scheduler, containerd and kubelet. Only in namespaces of
 * `runInNamespaces`: what `close()` leaves of its containers ends with them.
 */
export async function startNode(): Promise<StartedKubernetes> {
  const cgroup = process.env[CGROUP_VARIABLE];
  if (cgroup === undefined) throw new Error("a node is started in namespaces of its own alone: npm run e2e");
  const programs = await findNodePrograms();
  const folder = await mkdtemp(join(tmpdir(), "keyplane-node-"));
  const started: Program[] = [];
  const start = async (name: string, path: string, args: readonly string[]) => {
    const program = await startProgram(folder, name, path, args);
    started.push(program);
    return program;
  };
  const startContainerd = async () => {
    await mkdir(join(folder, "cni"));
    await writeFile(join(folder, "cni/pods.conflist"), networkConfig());
    await writeFile(join(folder, "containerd.toml"), containerdConfig(folder, programs));
    const path = join(programs.binFolder, "containerd");
    const containerd = await start("containerd", path, [`--config=${folder}/containerd.toml`]);
    await Promise.race([importImages(folder, programs), containerd.died]);
  };
  const [kubernetes] = await Promise.all([startKubernetes({ controllerManager: true, pods: true }), startContainerd()]);
  const kubeconfig = `--kubeconfig=${kubernetes.kubeconfigPath}`;
  await start("kube-scheduler", programs.scheduler, [kubeconfig, "--leader-elect=false", "--secure-port=0"]);
  await writeFile(join(folder, "kubelet.json"), kubeletConfig(folder, cgroup));
  const kubelet = await start("kubelet", programs.kubelet, [
    kubeconfig,
    `--config=${folder}/kubelet.json`,
    `--root-dir=${folder}/kubelet`,
    `--cert-dir=${folder}/kubelet-certificates`,
    `--node-ip=${NODE_ADDRESS}`,
    "--hostname-override=node",
  ]);
  await Promise.race([takesPods(kubernetes), kubelet.died]);
  const apiServer = { host: "127.0.0.1", port: Number(new URL(kubernetes.url).port) };
  const balancer = await startBalancer({ host: API_SERVER_ADDRESS, port: 443 }, () => apiServer);
  return {
    ...kubernetes,
    async close() {
      balancer.close();
      await Promise.all(started.map((program) => program.stop()));
      await kubernetes.close();
    },
  };
}

async function importImages(folder: string, { binFolder }: NodePrograms): Promise<void> {
  const ctr = (...args: string[]) =>
    run(join(binFolder, "ctr"), ["--address", SOCKET, "--namespace", "k8s.io", ...args]);
  await until("containerd listens", () => ctr("version"));
  const image = async (name: string, command: readonly string[], files?: Files) => {
    const archive = join(folder, "image.tar");
    await packImage(name, command, archive, files);
    await ctr("images", "import", archive);
  };
  await image(PAUSE_IMAGE, ["/usr/bin/sleep", "infinity"]);
  const paths = [
    "package.json",
    "cli",
    "controller",
    "domain",
    "runtime",
    "server",
    "store",
    ...(await productionPackages()),
  ];
  const files = { from: ROOT, paths, to: "/keyplane" };
  await image(IMAGE, [process.execPath], files);
  await image(`${KEYPLANE_IMAGE}:${packageJson.version}`, [process.execPath, KEYPLANE_IN_IMAGE], files);
}

/** The folders of the packages that the product needs, without Node.js itself. */
async function productionPackages(): Promise<string[]> {
  const lock: { packages: Record<string, { dev?: boolean }> } = JSON.parse(
    await readFile(join(ROOT, "package-lock.json"), "utf8"),
  );
  const folders = Object.keys(lock.packages).filter((path) => lock.packages[path]?.dev !== true);
  // Those within another's folder come with it; those of other platforms are not there.
  const isOwn = (path: string) => /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) && path !== "node_modules/node";
  return folders.filter((path) => isOwn(path) && existsSync(join(ROOT, path)));
}

async function takesPods({ kubectl }: StartedKubernetes): Promise<void> {
  const args = [
    "get",
    "node",
    "node",
    "--output=jsonpath={.status.conditions[?(@.type=='Ready')].status}{.spec.taints}",
  ];
  const ready = async () => (await kubectl(args)) === "True";
  await until("the node is ready", ready);
}
