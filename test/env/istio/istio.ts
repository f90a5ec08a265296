/** Istio's control plane, and one of its ingress gateways, as Istio itself configures Envoy. */
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePorts } from "../free-port.ts";
import { goModule } from "../go/go-build.ts";
import { findGoProgram } from "../go/go-program.ts";
import { startKubernetes } from "../kubernetes.ts";
import { findProxy, listens } from "../python-proxies.ts";
import { until } from "../until.ts";

const run = promisify(execFile);
const ISTIO = "istio.io/istio";

type IstioOptions = {
  /** Objects of Istio's kinds, in YAML. */
  readonly objects: string;
  /** Mesh configuration, in YAML. */
  readonly mesh: string;
  /** Namespace and labels of the gateway's pods. */
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Port of loopback at which the gateway listens by the objects. */
  readonly port: number;
};

/** The path of one of Istio's programs, as {@link findGoProgram} finds it. */
function findIstio(name: string, variable: string): Promise<string> {
  return findGoProgram({ name, variable, module: "istio", package: `${ISTIO}/pilot/cmd/${name}` });
}

/** Starts the control plane and the gateway; resolves once the gateway listens. */
export async function startIstio({ objects, mesh, namespace, labels, port }: IstioOptions) {
  const discovery = await findIstio("pilot-discovery", "PILOT_DISCOVERY_BIN");
  const agent = await findIstio("pilot-agent", "PILOT_AGENT_BIN");
  const { stdout } = await run("go", ["mod", "download", "-json", ISTIO], { cwd: goModule("istio") });
  const { Dir: sources }: { readonly Dir: string } = JSON.parse(stdout);
  const folder = await mkdtemp(join(tmpdir(), "keyplane-istio-"));
  const [xds = 0, http = 0, monitoring = 0, admin = 0, status = 0] = await freePorts(5);
  const kubernetes = await startKubernetes();
  const ends: (() => unknown)[] = [() => kubernetes.close(), () => rm(folder, { recursive: true, force: true })];
  const start = (program: string, args: readonly string[], env: Readonly<Record<string, string>>) => {
    // The agent's Envoy is in its group, and ends with it.
    const child = spawn(program, args, {
      cwd: folder,
      detached: true,
      stdio: "ignore",
      env: { PATH: process.env.PATH, HOME: folder, ...env },
    });
    const kill = () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    };
    process.once("exit", kill);
    ends.push(() => {
      process.off("exit", kill);
      kill();
    });
  };
  const stop = async (): Promise<void> => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    await mkdir(join(folder, "objects"));
    await writeFile(join(folder, "objects", "objects.yaml"), objects);
    await writeFile(join(folder, "mesh.yaml"), mesh);
    // The control plane keeps its certificates there.
    await kubernetes.kubectl(["create", "namespace", "istio-system"]);
    const at = (port: number) => `127.0.0.1:${port}`;
    start(
      discovery,
      [
        ...["discovery", "--kubeconfig", kubernetes.kubeconfigPath, "--registries", "Kubernetes", "--ctrlz_port", "0"],
        ...["--configDir", join(folder, "objects"), "--meshConfig", join(folder, "mesh.yaml")],
        ...["--grpcAddr", at(xds), "--httpAddr", at(http), "--monitoringAddr", at(monitoring)],
        ...["--httpsAddr", "", "--secureGRPCAddr", ""],
      ],
      // Envoy's own build lacks the filters by which Istio's proxies tell each other who they are.
      { PILOT_ENABLE_METADATA_EXCHANGE: "false", PILOT_ENABLE_ALPN_FILTER: "false", POD_NAMESPACE: "istio-system" },
    );
    await until("Istio's control plane listens", () => listens(xds));
    start(
      agent,
      [
        ...["proxy", "router", "--domain", `${namespace}.svc.cluster.local`, "--concurrency", "1"],
        ...["--templateFile", join(sources, "tools/packaging/common/envoy_bootstrap.json")],
      ],
      {
        ...{ POD_NAME: "gateway", POD_NAMESPACE: namespace, INSTANCE_IP: "127.0.0.1" },
        // By this port the agent takes an authority that it asks without TLS; nothing asks for its certificates.
        CA_ADDR: "127.0.0.1:15010",
        ...{ ISTIO_METAJSON_LABELS: JSON.stringify(labels), ISTIO_META_CLUSTER_ID: "Kubernetes" },
        PROXY_CONFIG: JSON.stringify({
          ...{ discoveryAddress: at(xds), controlPlaneAuthPolicy: "NONE", binaryPath: await findProxy("envoy") },
          ...{ configPath: join(folder, "envoy"), proxyAdminPort: admin, statusPort: status },
        }),
      },
    );
    await until("the gateway listens", () => listens(port));
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
