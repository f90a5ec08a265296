import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import packageJson from "../../../package.json" with { type: "json" };
import { RARE_COLLECTION } from "../../env/go/go-program.ts";
import { findBinaries } from "../../env/kubernetes/binaries.ts";
import { NODE_ADDRESS } from "../../env/node/namespaces.ts";
import { KEYPLANE_IMAGE, NODEJS_IMAGE, type StartedNode, startNode } from "../../env/node.ts";

/** Another cluster instead of our own: its kubeconfig, the address by which its pods reach this machine, an image. */
export const KUBECONFIG_VARIABLE = "KEYPLANE_E2E_KUBECONFIG";
const HOST_VARIABLE = "KEYPLANE_E2E_HOST";
const IMAGE_VARIABLE = "KEYPLANE_E2E_IMAGE";

const CRDS = join(import.meta.dirname, "../../../crds");

/** A cluster whose nodes run pods. */
export type WorkloadCluster = {
  readonly kubeconfig: string;
  /** It goes on after the suite, which removes what it has made. */
  readonly isShared: boolean;
  /** An address of this machine that its pods reach. */
  readonly host: string;
  /** An image whose command is Node.js. */
  readonly image: string;
  /** Where its nodes have Keyplane's image too, and are in the network of this machine. */
  readonly product?: {
    readonly image: string;
    /** As this machine reaches it. */
    readonly apiServer: URL;
    readonly node: StartedNode;
  };
  /** Runs kubectl to its end, and gives what it printed. Throws where it fails. */
  kubectl(args: readonly string[], stdin?: string): Promise<string>;
  /** Runs a kubectl that goes on, until it ends or the signal: each line that it prints is handed over. */
  followKubectl(args: readonly string[], signal: AbortSignal, onLine: (line: string) => void): Promise<void>;
  close(): Promise<void>;
};

export async function openCluster(): Promise<WorkloadCluster> {
  const kubeconfig = process.env[KUBECONFIG_VARIABLE];
  if (kubeconfig) return openNamed(kubeconfig);
  const node = await startNode();
  return {
    kubeconfig: node.kubeconfigPath,
    isShared: false,
    host: NODE_ADDRESS,
    image: NODEJS_IMAGE,
    product: { image: `${KEYPLANE_IMAGE}:${packageJson.version}`, apiServer: new URL(node.url), node },
    ...commands(node.address.kubectl, node.kubeconfigPath),
    close: () => node.close(),
  };
}

async function openNamed(kubeconfig: string): Promise<WorkloadCluster> {
  const { [HOST_VARIABLE]: host, [IMAGE_VARIABLE]: image } = process.env;
  if (!host) throw new Error(`${HOST_VARIABLE} is missing: the address by which pods reach this machine`);
  if (!image) throw new Error(`${IMAGE_VARIABLE} is missing: an image with Node.js 22.19 or later`);
  const { kubectl } = await findBinaries();
  const run = commands(kubectl, kubeconfig);
  await run.kubectl(["apply", "--server-side", "--filename", CRDS]);
  await run.kubectl(["wait", "--for=condition=Established", "--filename", CRDS, "--timeout=60s"]);
  return { kubeconfig, isShared: true, host, image, ...run, close: async () => {} };
}

function commands(path: string, kubeconfig: string): Pick<WorkloadCluster, "kubectl" | "followKubectl"> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, KUBECONFIG: kubeconfig, KUBERC: "off", ...RARE_COLLECTION };
  return {
    async kubectl(args, stdin = "") {
      const child = spawn(path, args, { env });
      const ended = Promise.withResolvers<number | null>();
      child.on("error", ended.reject).on("close", ended.resolve);
      child.stdin.on("error", () => {}).end(stdin);
      const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended.promise]);
      if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
      return stdout;
    },
    async followKubectl(args, signal, onLine) {
      const child = spawn(path, args, { env, signal, stdio: ["ignore", "pipe", "ignore"] });
      child.on("error", () => {});
      for await (const line of createInterface({ input: child.stdout })) onLine(line);
    },
  };
}
