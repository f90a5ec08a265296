/** What `kubectl apply --server-side` asks of an API server, without a process for it. */
import { parseAllDocuments } from "yaml";
import type { Kubernetes, KubernetesAnswer } from "./client.ts";

type ApplyClient = Pick<Kubernetes, "request" | "url">;
type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
};
type Resource = { readonly name: string; readonly kind: string; readonly namespaced: boolean };

type ApplyOptions = {
  /** Of what names none. */
  readonly namespace?: string;
  /** Nothing is stored. */
  readonly dryRun?: boolean;
  /** Takes the fields over that others have set. */
  readonly force?: boolean;
};

/**
 * Applies the objects of a text one after the other, and goes on after one that is refused.
 *
 * @returns an answer for each
 */
export async function applyEach(
  kubernetes: ApplyClient,
  text: string,
  options: ApplyOptions = {},
): Promise<KubernetesAnswer[]> {
  const answers: KubernetesAnswer[] = [];
  // As kubectl reads it, to which an `on` without quotes is true.
  for (const document of parseAllDocuments(text, { version: "1.1" })) {
    const manifest: Manifest | null = document.toJS();
    if (manifest !== null) answers.push(await apply(kubernetes, manifest, options));
  }
  return answers;
}

/**
 * Applies the objects of a text.
 *
 * @throws what the API server says of the first one that it refuses
 */
export async function applyAll(kubernetes: ApplyClient, text: string, options: ApplyOptions = {}): Promise<void> {
  const refused = (await applyEach(kubernetes, text, options)).find(({ status }) => status > 299);
  if (refused !== undefined) throw new Error(`apply: ${JSON.stringify(refused.body)}`);
}

async function apply(kubernetes: ApplyClient, manifest: Manifest, options: ApplyOptions): Promise<KubernetesAnswer> {
  const { apiVersion, kind, metadata } = manifest;
  const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { name, namespaced } = await resourceOf(kubernetes, group, kind);
  const place = namespaced ? `/namespaces/${metadata.namespace ?? options.namespace ?? "default"}` : "";
  const query = new URLSearchParams({
    ...{ fieldManager: "kubectl", fieldValidation: "Strict" },
    ...(options.dryRun === true && { dryRun: "All" }),
    ...(options.force === true && { force: "true" }),
  });
  return kubernetes.request("PATCH", `${group}${place}/${name}/${metadata.name}?${query}`, {
    body: JSON.stringify(manifest),
    contentType: "application/apply-patch+yaml",
  });
}

/** What API servers serve, by their URL, group and kind. */
const known = new Map<string, Resource>();

async function resourceOf({ request, url }: ApplyClient, group: string, kind: string): Promise<Resource> {
  const title = (kind: string) => `${url} ${group} ${kind}`;
  if (!known.has(title(kind))) {
    const { body } = await request("GET", group);
    for (const resource of (body as { resources?: Resource[] }).resources ?? []) {
      if (!resource.name.includes("/")) known.set(title(resource.kind), resource);
    }
  }
  const found = known.get(title(kind));
  if (found === undefined) throw new Error(`${group} has no ${kind}`);
  return found;
}
