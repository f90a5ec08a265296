import { spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { Agent, request as httpsRequest } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { KINDS } from "../../../domain/kinds/kinds.ts";
import { RARE_COLLECTION } from "../go/go-program.ts";
import { until } from "../until.ts";

/** What it takes to reach a control plane, from any process of the run. */
export type KubernetesAddress = {
  readonly url: string;
  /** Of its certificate, kubeconfig and logs. */
  readonly folder: string;
  /** The administrator's. */
  readonly token: string;
  /** The path of the program. */
  readonly kubectl: string;
  readonly auditLog?: string | undefined;
};

export type EndedCommand = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** An answer of the API server; `warnings` are what kubectl would show of its Warning headers. */
export type KubernetesAnswer = {
  readonly status: number;
  readonly body: unknown;
  readonly warnings: readonly string[];
};

export type RequestOptions = {
  readonly body?: string;
  /** JSON unless said otherwise. */
  readonly contentType?: string;
  /** The administrator's unless another's. */
  readonly token?: string;
};

/** A control plane as the administrator sees it. */
export type Kubernetes = {
  readonly url: string;
  /** The path of the administrator's kubeconfig. */
  readonly kubeconfigPath: string;
  /** One JSON line a request, where the control plane was started with an audit log. */
  readonly auditLog: string | undefined;
  /** What it prints. @throws with what it says where it fails */
  kubectl(args: readonly string[], stdin?: string): Promise<string>;
  /** The same for a command that may fail. */
  runKubectl(args: readonly string[], stdin?: string): Promise<EndedCommand>;
  /** One request, where kubectl would take too long or shows too little. */
  request(method: string, path: string, options?: RequestOptions): Promise<KubernetesAnswer>;
  /** Applies `crds/`, and waits until the API server serves what they declare. */
  installCrds(): Promise<void>;
  /** Waits until the API server serves what `crds/` declare. */
  kindsServed(): Promise<void>;
  /** A token of a ServiceAccount, by TokenRequest. */
  createToken(namespace: string, serviceAccount: string): Promise<string>;
  /** A kubeconfig's text for the holder of that token, whose own namespace may be given. */
  kubeconfig(token: string, namespace?: string): Promise<string>;
};

const CRDS = join(import.meta.dirname, "../../../crds");
const KINDS_URL = "/apis/keyplane.dev/v1alpha1";

export async function connectKubernetes(address: KubernetesAddress): Promise<Kubernetes> {
  const { url, folder } = address;
  const kubeconfigPath = join(folder, "kubeconfig");
  const ca = await readFile(join(folder, "apiserver.crt"));
  const agent = new Agent({ ca, keepAlive: true });

  async function request(method: string, path: string, options: RequestOptions = {}): Promise<KubernetesAnswer> {
    const { body, contentType = "application/json", token = address.token } = options;
    const { promise, resolve, reject } = Promise.withResolvers<KubernetesAnswer>();
    const headers = { authorization: `Bearer ${token}`, "content-type": contentType, accept: "application/json" };
    const outgoing = httpsRequest(new URL(path, url), { method, agent, headers }, async (response) => {
      const answer = await text(response);
      const warnings = [response.headers.warning ?? []].flat().flatMap(readWarnings);
      resolve({ status: response.statusCode ?? 0, body: parseOrText(answer), warnings });
    });
    outgoing.on("error", reject);
    outgoing.end(body);
    return promise;
  }

  async function runKubectl(args: readonly string[], stdin = ""): Promise<EndedCommand> {
    const { PATH } = process.env;
    const env = { PATH, HOME: folder, KUBECONFIG: kubeconfigPath, KUBERC: "off", ...RARE_COLLECTION };
    const child = spawn(address.kubectl, args, { env });
    const ended = Promise.withResolvers<number | null>();
    child.on("error", ended.reject).on("close", ended.resolve);
    child.stdin.on("error", () => {}).end(stdin);
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended.promise]);
    return { code, stdout, stderr };
  }

  async function kubectl(args: readonly string[], stdin?: string): Promise<string> {
    const { code, stdout, stderr } = await runKubectl(args, stdin);
    if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
    return stdout;
  }

  async function kindsServed(): Promise<void> {
    const served = async () => {
      const [resources, openapi] = await Promise.all([
        request("GET", KINDS_URL),
        request("GET", `/openapi/v3${KINDS_URL}`),
      ]);
      return [resources, openapi].every(({ body }) =>
        KINDS.every((kind) => JSON.stringify(body).includes(`"${kind}"`)),
      );
    };
    await until("the kinds of crds/ are served", served);
  }

  return {
    url,
    kubeconfigPath,
    auditLog: address.auditLog,
    kubectl,
    runKubectl,
    request,
    async installCrds() {
      await kubectl(["apply", "--server-side", "--filename", CRDS]);
      await kindsServed();
      // What kubectl remembers of the API is from before.
      await rm(join(folder, ".kube/cache"), { recursive: true, force: true });
    },
    kindsServed,
    async createToken(namespace, serviceAccount) {
      return (await kubectl(["create", "token", serviceAccount, "--namespace", namespace])).trim();
    },
    async kubeconfig(token, namespace) {
      const named = { name: "test" };
      return JSON.stringify({
        apiVersion: "v1",
        kind: "Config",
        clusters: [{ ...named, cluster: { server: url, "certificate-authority-data": ca.toString("base64") } }],
        users: [{ ...named, user: { token } }],
        contexts: [{ ...named, context: { cluster: "test", user: "test", namespace } }],
        "current-context": "test",
      });
    },
  };
}

function parseOrText(answer: string): unknown {
  try {
    return JSON.parse(answer);
  } catch {
    return answer;
  }
}

/** The texts of a header such as `299 - "unknown field \"spec.x\"", 299 - "..."`. */
function readWarnings(header: string): string[] {
  return [...header.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, warning = ""]) =>
    warning.replace(/\\(.)/g, "$1"),
  );
}
