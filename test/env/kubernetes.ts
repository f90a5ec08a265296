import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";
import { type Binaries, findBinaries } from "./kubernetes/binaries.ts";
import { connectKubernetes, type Kubernetes, type KubernetesAddress } from "./kubernetes/client.ts";
import { openEtcd } from "./kubernetes/etcd.ts";
import { type Program, startProgram } from "./kubernetes/program.ts";
import { until } from "./until.ts";

/** A control plane of our own. */
export type StartedKubernetes = Kubernetes & {
  /** For other processes to reach it. */
  readonly address: KubernetesAddress;
  /** Of its processes, by program. */
  readonly pids: Readonly<Record<string, number>>;
  /** Ends one of its programs as a crash does. */
  kill(name: Restartable): Promise<void>;
  /** Starts a killed one again, on the same address and the same data. Does not wait until it is ready. */
  restart(name: Restartable): Promise<void>;
  /** Etcd's data, to be copied or exchanged while it is dead. */
  readonly etcdFolder: string;
  /** Where etcd answers. */
  readonly etcdSocket: string;
  /** Has etcd forget whatever was before. */
  compact(): Promise<void>;
  close(): Promise<void>;
};

type Restartable = "etcd" | "kube-apiserver" | "kube-controller-manager";

type Options = {
  /** Garbage collection, ends of namespaces, default ServiceAccounts and aggregated roles. */
  readonly controllerManager?: boolean;
  /** The controller manager also makes pods of Deployments and Jobs, lets them on nodes that are ready, and finds those of a Service. */
  readonly pods?: boolean;
  /** Every request's metadata goes to the file `auditLog`. */
  readonly audit?: boolean;
};

/**
 * Starts a control plane on loopback in a temporary folder: etcd and the API server, with the declarations of `crds/`
 * installed. It ends with `close()`, and with this process however that ends.
 *
 * @throws {KubernetesMissingError} where this machine has none
 */
export async function startKubernetes({
  controllerManager = false,
  pods = false,
  audit = false,
}: Options = {}): Promise<StartedKubernetes> {
  const binaries = await findBinaries();
  const folder = await mkdtemp(join(tmpdir(), "keyplane-kubernetes-"));
  const etcdSocket = join(folder, "etcd.sock");
  const programs = new Map<string, Program>();
  const argsOf = new Map<string, readonly string[]>();
  const start = async (name: keyof Binaries, args: readonly string[]) => {
    const program = await startProgram(folder, name, binaries[name], args);
    argsOf.set(name, args);
    programs.set(name, program);
    return program;
  };
  const close = async () => {
    await Promise.all([...programs.values()].map((program) => program.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const token = randomBytes(16).toString("hex");
    await writeFiles(folder, token);
    const port = await freePort();
    await start("etcd", etcdArgs(folder));
    const server = await start("kube-apiserver", apiServerArgs(folder, port, audit));
    const address: KubernetesAddress = {
      url: `https://127.0.0.1:${port}`,
      folder,
      token,
      kubectl: binaries.kubectl,
      auditLog: audit ? join(folder, "audit.log") : undefined,
    };
    const kubernetes = await Promise.race([whenReady(address), server.died]);
    // Before the garbage collector starts: it looks for new kinds only every 30 s.
    await kubernetes.installCrds();
    if (controllerManager) {
      const manager = await start("kube-controller-manager", controllerManagerArgs(folder, pods));
      await Promise.race([hasDefaultServiceAccount(kubernetes), manager.died]);
    }
    const pids = Object.fromEntries([...programs].map(([name, { pid }]) => [name, pid]));
    return {
      ...kubernetes,
      address,
      pids,
      async kill(name) {
        await programs.get(name)?.kill();
      },
      async restart(name) {
        await start(name, argsOf.get(name) ?? []);
      },
      etcdFolder: join(folder, "etcd"),
      etcdSocket,
      async compact() {
        const etcd = openEtcd(etcdSocket);
        await etcd.compact().finally(() => etcd.close());
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function writeFiles(folder: string, token: string): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync("ec", {
    namedCurve: "P-256",
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "sec1", format: "pem" },
  });
  const auditPolicy = {
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived"],
    rules: [{ level: "Metadata" }],
  };
  await Promise.all([
    writeFile(join(folder, "service-account.key"), privateKey),
    writeFile(join(folder, "service-account.pub"), publicKey),
    writeFile(join(folder, "tokens.csv"), `${token},admin,admin,"system:masters"\n`),
    writeFile(join(folder, "audit-policy.json"), JSON.stringify(auditPolicy)),
    // One that is there the API server appends to, so that it can be emptied.
    writeFile(join(folder, "audit.log"), ""),
  ]);
}

function etcdArgs(folder: string): string[] {
  return [
    `--data-dir=${folder}/etcd`,
    "--unsafe-no-fsync",
    `--listen-client-urls=unix://${folder}/etcd.sock`,
    "--advertise-client-urls=http://127.0.0.1:0",
    "--listen-peer-urls=http://127.0.0.1:0",
  ];
}

function apiServerArgs(folder: string, port: number, audit: boolean): string[] {
  return [
    `--etcd-servers=unix://${folder}/etcd.sock`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${folder}`,
    `--token-auth-file=${folder}/tokens.csv`,
    "--authorization-mode=RBAC",
    // As on OpenShift: an owner reference needs rights on its owner.
    "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${folder}/service-account.pub`,
    `--service-account-signing-key-file=${folder}/service-account.key`,
    "--service-cluster-ip-range=10.0.0.0/24",
    "--endpoint-reconciler-type=none",
    // It shares out a server that is too busy, and takes a fifth of what a start takes of the processor.
    "--enable-priority-and-fairness=false",
    // Their names are known to no DNS.
    "--kubelet-preferred-address-types=InternalIP",
    ...(audit
      ? [
          `--audit-policy-file=${folder}/audit-policy.json`,
          `--audit-log-path=${folder}/audit.log`,
          "--audit-log-maxsize=4096",
        ]
      : []),
  ];
}

const CONTROLLERS = ["garbage-collector", "namespace", "serviceaccount", "clusterrole-aggregation"];
const POD_CONTROLLERS = [
  ...["deployment", "replicaset", "job", "endpointslice"],
  ...["node-lifecycle", "root-ca-certificate-publisher"],
];

function controllerManagerArgs(folder: string, pods: boolean): string[] {
  const controllers = pods ? [...CONTROLLERS, ...POD_CONTROLLERS] : CONTROLLERS;
  return [
    `--kubeconfig=${folder}/kubeconfig`,
    `--controllers=${controllers.map((name) => `${name}-controller`)}`,
    `--root-ca-file=${folder}/apiserver.crt`,
    "--leader-elect=false",
    "--secure-port=0",
  ];
}

/** Reads the certificate anew each time: the API server makes it, and it may be there in part. */
async function whenReady(address: KubernetesAddress): Promise<Kubernetes> {
  const ready = async () => {
    const kubernetes = await connectKubernetes(address);
    return (await kubernetes.request("GET", "/readyz")).status === 200 ? kubernetes : undefined;
  };
  const kubernetes = await until("the API server is ready", ready);
  await writeFile(kubernetes.kubeconfigPath, await kubernetes.kubeconfig(address.token), { mode: 0o600 });
  return kubernetes;
}

async function hasDefaultServiceAccount({ request }: Kubernetes): Promise<void> {
  const path = "/api/v1/namespaces/default/serviceaccounts/default";
  const there = async () => (await request("GET", path)).status === 200;
  await until("the controller manager is at work", there);
}
