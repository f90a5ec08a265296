/**
 * Address of the API server, and our credentials there. The Kubernetes client does the configuration and authentication
 * (kubeconfig, in-cluster, exec plugins, tokens that rotate); the requests are ours.
 */
import type { Agent } from "node:http";
import type { RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";
import { unreadableBecause } from "../../../../runtime/unreadable-because.ts";
import { KubeconfigError } from "./kubeconfig-error.ts";

/** Milliseconds that credentials are used before they are requested again, which reads files. */
const CREDENTIALS_LAST = 5_000;

/** Name that the client gives the context that it makes of a pod's service account. */
const IN_CLUSTER = "inClusterContext";

export type TlsOptions = Pick<RequestOptions, "ca" | "cert" | "key" | "servername" | "rejectUnauthorized">;

/** Credentials that a request is made with. */
export type Credentials = {
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsOptions;
  /** Agent of the proxy that the kubeconfig names. */
  readonly proxyAgent: Agent | undefined;
};

export type Connection = {
  readonly server: URL;
  /** Namespace that the configuration names: the controller's own if it runs in a cluster. */
  readonly namespace: string | undefined;
  /** Namespace of the pod that this runs in; undefined outside a pod, whatever a kubeconfig names. */
  readonly podNamespace: string | undefined;
  credentials(): Promise<Credentials>;
  /** Makes everything be read again, since the API server refused the present credentials. */
  renew(): void;
};

/**
 * Reads the configuration.
 *
 * @param kubeconfig a file; if undefined, KUBECONFIG, the user's own or the pod's service account
 * @param contextName one of its contexts; if undefined, the current one
 * @throws KubeconfigError if none of them says which cluster is meant
 */
export function connect(
  kubeconfig: string | undefined,
  clock: { monotonic(): number },
  contextName?: string,
): Connection {
  let config = load(kubeconfig, contextName);
  let known: { readonly until: number; readonly credentials: Promise<Credentials> } | undefined;
  const address = config.getCurrentCluster()?.server;
  if (address === undefined || !URL.canParse(address)) throw new KubeconfigError("its current context names no server");
  const context = config.getCurrentContext();
  const namespace = config.getContextObject(context)?.namespace?.trim();
  return {
    server: new URL(address),
    namespace,
    podNamespace: context === IN_CLUSTER ? namespace : undefined,
    credentials() {
      if (known === undefined || clock.monotonic() > known.until) {
        const credentials = readCredentials(config);
        known = { until: clock.monotonic() + CREDENTIALS_LAST, credentials };
        credentials.catch(() => {
          known = undefined;
        });
      }
      return known.credentials;
    },
    renew() {
      config = load(kubeconfig, contextName);
      known = undefined;
    },
  };
}

function load(kubeconfig: string | undefined, contextName: string | undefined): KubeConfig {
  const config = new KubeConfig();
  try {
    if (kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(kubeconfig);
  } catch (error) {
    const file = kubeconfig === undefined ? "" : `${kubeconfig}: `;
    const why = error instanceof Error && "syscall" in error ? unreadableBecause(error) : "it is no kubeconfig in YAML";
    throw new KubeconfigError(`${file}${why}`);
  }
  // The context that the client makes up if it finds no configuration.
  if (kubeconfig === undefined && config.getCurrentContext() === "loaded-context") {
    throw new KubeconfigError("no cluster is configured: give --kubeconfig FILE, or set KUBECONFIG");
  }
  if (contextName !== undefined) {
    if (config.getContextObject(contextName) === null) {
      const names = config.getContexts().map(({ name }) => name);
      throw new KubeconfigError(`it has no context ${contextName}: it has ${names.join(", ") || "none"}`);
    }
    config.setCurrentContext(contextName);
  }
  return config;
}

async function readCredentials(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = { headers: {} };
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, servername, rejectUnauthorized, auth } = options;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name] = String(value).trim();
  if (auth) headers.Authorization = `Basic ${Buffer.from(auth).toString("base64")}`;
  const agent = config.getCurrentCluster()?.proxyUrl === undefined ? undefined : options.agent;
  return {
    headers,
    tls: withoutUndefined({ ca, cert, key, servername, rejectUnauthorized }),
    proxyAgent: typeof agent === "object" ? agent : undefined,
  };
}

function withoutUndefined(options: { [K in keyof TlsOptions]: TlsOptions[K] | undefined }): TlsOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as TlsOptions;
}
