import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { parseAllDocuments } from "yaml";
import { RARE_COLLECTION } from "../../env/go/go-program.ts";
import { findHelm } from "../../env/helm.ts";
import type { EndedCommand, Kubernetes, KubernetesAnswer } from "../../env/kubernetes/client.ts";
import { applyEach } from "../../env/kubernetes/server-side-apply.ts";

export const CHART = join(import.meta.dirname, "../../../infra/chart");

/**
 * For a release whose objects are those that rendering.cluster.test.ts has the API server check: Helm checks them by its
 * OpenAPI otherwise, which takes both of them a second of the processor.
 */
export const UNCHECKED = "--disable-openapi-validation";

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
  runHelm(...args: string[]): Promise<EndedCommand>;
  /** The text of what the chart declares, as release `keyplane` in `keyplane-system`, hooks included: once for the same arguments. */
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

  async function runHelm(...args: string[]): Promise<EndedCommand> {
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

  const rendered = new Map<string, Promise<string>>();
  return {
    helm,
    runHelm,
    render(...args) {
      const title = args.join("\n");
      const text =
        rendered.get(title) ?? helm("template", "keyplane", CHART, "--namespace", "keyplane-system", ...args);
      rendered.set(title, text);
      return text;
    },
  };
}

/** Makes namespaces, and that of the release, where pods are under restricted Pod Security. */
export async function makeNamespaces({ request }: Kubernetes, ...names: readonly string[]): Promise<void> {
  const modes = ["enforce", "warn"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "restricted"]);
  const metadatas = [
    { name: "keyplane-system", labels: Object.fromEntries(modes) },
    ...names.map((name) => ({ name })),
  ];
  for (const metadata of metadatas) {
    const { status, body } = await request("POST", "/api/v1/namespaces", { body: JSON.stringify({ metadata }) });
    if (status !== 201) throw new Error(JSON.stringify(body));
  }
}

/** What the API server would say of objects, were they applied: refusals. */
export async function refusalsOf(kubernetes: Kubernetes, text: string): Promise<string[]> {
  return (await tried(kubernetes, text)).flatMap(({ status, body }) => (status > 299 ? [JSON.stringify(body)] : []));
}

/** What the API server would say of objects, were they applied: refusals, and warnings. */
export async function complaintsAbout(kubernetes: Kubernetes, text: string): Promise<string[]> {
  const answers = await tried(kubernetes, text);
  const said = ({ status, body, warnings }: KubernetesAnswer) => [
    ...(status > 299 ? [JSON.stringify(body)] : []),
    ...warnings,
  ];
  return answers.flatMap(said);
}

async function tried(kubernetes: Kubernetes, text: string): Promise<KubernetesAnswer[]> {
  const answers = await applyEach(kubernetes, text, { dryRun: true, force: true });
  if (answers.length === 0) throw new Error("there is no object in the text");
  return answers;
}

/** The objects of a text with many of them. */
export function manifestsIn(rendered: string): Manifest[] {
  return parseAllDocuments(rendered)
    .map((document): Manifest | null => document.toJS())
    .filter((object) => object !== null);
}
