import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { main } from "../../cli/program.ts";
import type { StartedKubernetes } from "./kubernetes.ts";
import { readyUrl, type Serving, startServing } from "./serving.ts";
import { until } from "./until.ts";

/** `keyplane controller` as a process of its own; its URL is that of its admin listener. */
export type ControllerProcess = Serving;

/** `keyplane controller` in this process, which takes half of the processor's time that one of its own does. */
export type Controller = Pick<Serving, "lines" | "url" | "stop"> & {
  /** Its exit code; undefined while it runs. */
  exitCode(): number | undefined;
};

export type ControllerOptions = {
  readonly kubeconfig: string;
  readonly databaseUrl: string;
  readonly encryptionKey: string;
  readonly flags?: readonly string[];
};

export type ControllerProcessOptions = ControllerOptions & {
  /** Of Node itself, as `--cpu-prof`. */
  readonly nodeFlags?: readonly string[];
};

/**
 * Writes a kubeconfig for the ServiceAccount that infra/rbac makes, as its pod would have it.
 *
 * @param url where it leads, such as to a proxy
 * @returns the file's path
 */
export async function accountKubeconfig(
  kubernetes: Pick<StartedKubernetes, "address" | "createToken" | "kubeconfig">,
  url = kubernetes.address.url,
): Promise<string> {
  const path = join(kubernetes.address.folder, "controller.kubeconfig");
  const token = await kubernetes.createToken("keyplane-system", "keyplane-controller");
  const text = await kubernetes.kubeconfig(token, "keyplane-system");
  await writeFile(path, text.replaceAll(kubernetes.address.url, url), { mode: 0o600 });
  return path;
}

/** Starts a controller as a process, and waits until it is ready, be it leader or not. */
export function startControllerProcess(options: ControllerProcessOptions): Promise<ControllerProcess> {
  return startServing(argsOf(options), envOf(options), options.nodeFlags);
}

/** Starts a controller in this process, and waits until it is ready, be it leader or not. Its log is lines for people. */
export async function startController(options: ControllerOptions): Promise<Controller> {
  const [lines, stop] = [[] as string[], new AbortController()];
  const write = (text: string) => void lines.push(...text.split("\n").filter((line) => line !== ""));
  let code: number | undefined;
  const ended = main(argsOf(options), {
    env: { KEYPLANE_HOST: "127.0.0.1", ...envOf(options) },
    ...{ out: write, err: write, stopSignal: () => stop.signal, terminal: { hasColours: false } },
  }).then((given) => {
    code = given;
    return given;
  });
  const ready = () => lines.map(readyUrl).find((url) => url !== undefined);
  await until("keyplane controller is ready", () => ready() || code !== undefined);
  const url = ready();
  if (url === undefined) throw new Error(lines.join("\n"));
  return {
    ...{ lines, url },
    exitCode: () => code,
    stop() {
      stop.abort();
      return ended;
    },
  };
}

const argsOf = ({ kubeconfig, flags = [] }: ControllerOptions): string[] => [
  ...["controller", "--kubeconfig", kubeconfig, "--admin-port", "0", ...flags],
];
const envOf = ({ databaseUrl, encryptionKey }: ControllerOptions) => ({
  KEYPLANE_DATABASE_URL: databaseUrl,
  KEYPLANE_ENCRYPTION_KEY: encryptionKey,
});
