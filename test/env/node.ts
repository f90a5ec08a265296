import { execFile } from "node:child_process";
import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { copyProgram, IMAGE_ROOT_VARIABLE, readImageConfig } from "./image-root.ts";
import { type Program, startProgram } from "./kubernetes/program.ts";
import { type StartedKubernetes, startKubernetes } from "./kubernetes.ts";
import { startBalancer } from "./node/balancer.ts";
import { containerdConfig, kubeletConfig, networkConfig, PAUSE_IMAGE, SOCKET } from "./node/config.ts";
import { type Config, packImages } from "./node/image.ts";
import { API_SERVER_ADDRESS, CGROUP_VARIABLE, NODE_ADDRESS } from "./node/namespaces.ts";
import { findNodePrograms, type NodePrograms } from "./node/programs.ts";
import { until } from "./until.ts";

/** Keyplane's own image, which the node has with this version as its tag. */
export const KEYPLANE_IMAGE = "localhost/keyplane";
/** The same with Node.js as its command, for pods of the tests. */
export const NODEJS_IMAGE = "localhost/nodejs:test";

const run = promisify(execFile);

/** A cluster of one node. */
export type StartedNode = StartedKubernetes & {
  /** Ends the kubelet as a crash does, and starts it again. Its pods go on. */
  restartKubelet(): Promise<void>;
};

/**
 * Starts a cluster of one node: a control plane, scheduler, containerd and kubelet. Only in namespaces of
 * `runInNamespaces`: what `close()` leaves of its containers ends with them.
 */
export async function startNode(): Promise<StartedNode> {
  const { [CGROUP_VARIABLE]: cgroup, [IMAGE_ROOT_VARIABLE]: imageRoot } = process.env;
  if (cgroup === undefined || imageRoot === undefined)
    throw new Error("a node is started in namespaces of its own alone: npm run e2e");
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
    await Promise.race([importImages(folder, programs, imageRoot), containerd.died]);
  };
  const [kubernetes] = await Promise.all([startKubernetes({ controllerManager: true, pods: true }), startContainerd()]);
  const kubeconfig = `--kubeconfig=${kubernetes.kubeconfigPath}`;
  await start("kube-scheduler", programs.scheduler, [kubeconfig, "--leader-elect=false", "--secure-port=0"]);
  await writeFile(join(folder, "kubelet.json"), kubeletConfig(folder, cgroup));
  const startKubelet = () =>
    start("kubelet", programs.kubelet, [
      kubeconfig,
      `--config=${folder}/kubelet.json`,
      `--root-dir=${folder}/kubelet`,
      `--cert-dir=${folder}/kubelet-certificates`,
      `--node-ip=${NODE_ADDRESS}`,
      "--hostname-override=node",
    ]);
  let kubelet = await startKubelet();
  await Promise.race([takesPods(kubernetes), kubelet.died]);
  const apiServer = { host: "127.0.0.1", port: Number(new URL(kubernetes.url).port) };
  const balancer = await startBalancer({ host: API_SERVER_ADDRESS, port: 443 }, () => apiServer);
  return {
    ...kubernetes,
    async restartKubelet() {
      await kubelet.kill();
      kubelet = await startKubelet();
    },
    async close() {
      balancer.close();
      await Promise.all(started.map((program) => program.stop()));
      await kubernetes.close();
    },
  };
}

async function importImages(folder: string, { binFolder }: NodePrograms, imageRoot: string): Promise<void> {
  const ctr = (...args: string[]) =>
    run(join(binFolder, "ctr"), ["--address", SOCKET, "--namespace", "k8s.io", ...args]);
  await until("containerd listens", () => ctr("version"));
  const archive = join(folder, "image.tar");
  const images = async (root: string, configs: Readonly<Record<string, Config>>) => {
    await packImages(root, configs, archive);
    await ctr("images", "import", archive);
  };
  const pause = join(folder, "pause");
  await copyProgram("/usr/bin/sleep", pause);
  await images(pause, { [PAUSE_IMAGE]: { Entrypoint: ["/usr/bin/sleep", "infinity"] } });
  const { entrypoint, user, env } = readImageConfig();
  const common = { User: user, Env: Object.entries(env).map((pair) => pair.join("=")) };
  await images(imageRoot, {
    [NODEJS_IMAGE]: { ...common, Entrypoint: [entrypoint[0]] },
    [`${KEYPLANE_IMAGE}:${packageJson.version}`]: { ...common, Entrypoint: entrypoint },
  });
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
