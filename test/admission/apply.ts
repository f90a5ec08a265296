import { parse } from "yaml";
import { isClusterScoped, isKind } from "../../domain/kinds/kinds.ts";
import type { Kubernetes, KubernetesAnswer } from "../env/kubernetes/client.ts";
import { until } from "../env/until.ts";

/** What the API server says of a manifest. */
export type OnlineVerdict = {
  readonly accepted: boolean;
  /** Each as `path: message`, as the offline validator's faults are written. */
  readonly diagnostics: readonly string[];
  /** The same in one text, as kubectl shows it. */
  readonly message: string;
  readonly warnings: readonly string[];
  /** As it is, or would be, stored. */
  readonly stored?: unknown;
};

type ApplyOptions = {
  /** Nothing is stored. */
  readonly dryRun?: boolean;
  readonly token?: string;
};

const PLURALS: Readonly<Record<string, string>> = {
  PlatformKey: "platformkeys",
  PlatformTeam: "platformteams",
  PlatformKeyPolicy: "platformkeypolicies",
  ModelGateway: "modelgateways",
  MemoryLibrary: "memorylibraries",
  Secret: "secrets",
};

const GROUPS: Readonly<Record<string, string>> = {
  "keyplane.dev/v1alpha1": "/apis/keyplane.dev/v1alpha1",
  v1: "/api/v1",
};

/** Makes namespaces that may be there already. */
export async function createNamespaces(kubernetes: Kubernetes, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await kubernetes.request("POST", "/api/v1/namespaces", { body: JSON.stringify({ metadata: { name } }) });
  }
}

/** Deletes what a manifest names, and waits until it is gone. */
export async function remove(kubernetes: Kubernetes, text: string): Promise<void> {
  const url = urlOf(text);
  if (url === undefined) throw new Error(`no object:\n${text}`);
  await kubernetes.request("DELETE", url);
  await until("the object is gone", async () => (await kubernetes.request("GET", url)).status === 404);
}

/** Applies a manifest as `kubectl apply --server-side` does: the text as it is, unknown fields refused. */
export async function apply(kubernetes: Kubernetes, text: string, options: ApplyOptions = {}): Promise<OnlineVerdict> {
  const { dryRun = false, token } = options;
  const url = urlOf(text);
  if (url === undefined) return applyByKubectl(kubernetes, text);
  const query = new URLSearchParams({
    fieldManager: "test",
    fieldValidation: "Strict",
    ...(dryRun && { dryRun: "All" }),
  });
  const answer = await kubernetes.request("PATCH", `${url}?${query}`, {
    body: text,
    contentType: "application/apply-patch+yaml",
    ...(token !== undefined && { token }),
  });
  return verdictOf(answer);
}

/** Where an object is in the API, or undefined for what has no place there. */
export function urlOf(text: string): string | undefined {
  const { apiVersion, kind, metadata } = parse(text) ?? {};
  const { name, namespace } = metadata ?? {};
  const plural = typeof kind === "string" ? PLURALS[kind] : undefined;
  const group = typeof apiVersion === "string" ? GROUPS[apiVersion] : undefined;
  const isOfCluster = typeof kind === "string" && isKind(kind) && isClusterScoped(kind);
  const named = (isOfCluster ? [name] : [name, namespace]).every(
    (part) => typeof part === "string" && /^[a-z0-9]/.test(part),
  );
  if (plural === undefined || group === undefined || !named) return undefined;
  if (!isOfCluster) return `${group}/namespaces/${namespace}/${plural}/${name}`;
  return namespace === undefined ? `${group}/${plural}/${name}` : undefined;
}

/** For a text that has no place in the API: kubectl has to find out. */
async function applyByKubectl(kubernetes: Kubernetes, text: string): Promise<OnlineVerdict> {
  const args = ["apply", "--server-side", "--dry-run=server", "--filename", "-"];
  const { code, stderr } = await kubernetes.runKubectl(args, text);
  return { accepted: code === 0, diagnostics: [], message: stderr, warnings: [] };
}

function verdictOf({ status, body, warnings }: KubernetesAnswer): OnlineVerdict {
  const { message = "", details } = body as { message?: string; details?: { causes?: Cause[] } };
  const diagnostics = (details?.causes ?? []).map(({ field = "", message = "" }) => `${field}: ${message}`);
  return { accepted: status < 300, diagnostics, message, warnings, stored: body };
}

/** As in a Status of the API. */
type Cause = { readonly field?: string; readonly message?: string };
