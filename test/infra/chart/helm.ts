import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseAllDocuments } from "yaml";
import { RARE_COLLECTION } from "../../env/go/go-program.ts";
import { findHelm } from "../../env/helm.ts";
import type { Ended, Kubernetes } from "../../env/kubernetes/client.ts";

export const CHART = join(import.meta.dirname, "../../../infra/chart");

/** An object of Kubernetes, as far as tests look into it. */
export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
};

/** Helm's program, with what it reads and writes at home in a folder of its own. */
export type Helm = {
  /** What it prints. @throws with what it says where it fails */
  helm(...args: string[]): Promise<string>;
  /** The same for a command that may fail. */
  runHelm(...args: string[]): Promise<Ended>;
  /** The text of what the chart declares, as release `keyplane` in `keyplane-system`, hooks included. */
  render(...args: string[]): Promise<string>;
};

/**
 * @param home a folder
 * @param kubernetes where releases are; without it there is none to be reached
 * @throws ProgramMissingError where there is no Helm
 */
export async function openHelm(home: string, kubernetes?: Kubernetes): Promise<Helm> {
  const program = await findHelm();
  const env = { HOME: home, KUBECONFIG: kubernetes?.kubeconfigPath ?? "/dev/null", ...RARE_COLLECTION };

  async function runHelm(...args: string[]): Promise<Ended> {
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    const ended = Promise.withResolvers<number | null>();
    child.on("error", ended.reject).on("close", ended.resolve);
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended.promise]);
    return { code, stdout, stderr };
  }

  async function helm(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await runHelm(...args);
    if (code !== 0) throw new Error(`helm ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  return {
    helm,
    runHelm,
    render: (...args) => helm("template", "keyplane", CHART, "--namespace", "keyplane-system", ...args),
  };
}

/** The objects of a text with many of them. */
export function manifestsIn(rendered: string): Manifest[] {
  return parseAllDocuments(rendered)
    .map((document): Manifest | null => document.toJS())
    .filter((object) => object !== null);
}
