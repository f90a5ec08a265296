/** What is declared in one namespace, as a test changes it and looks at it. */
import { until } from "../until.ts";
import type { Kubernetes } from "./client.ts";
import { applyAll } from "./server-side-apply.ts";

export type Key = {
  readonly metadata: { readonly generation: number };
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly observedGeneration?: number;
    readonly keyID?: string;
    readonly currentVersion?: number;
    readonly restartedVersion?: number;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
};

/** To ask the API server takes it, and who asks, some of the processor. */
const ASKING = { longestPauseMs: 250 };

export const API = "/apis/keyplane.dev/v1alpha1";

/** Makes a namespace that is not there yet. */
export async function createNamespace({ request }: Pick<Kubernetes, "request">, name: string): Promise<void> {
  const { status, body } = await request("POST", "/api/v1/namespaces", {
    body: JSON.stringify({ metadata: { name } }),
  });
  if (status !== 201) throw new Error(`namespace ${name}: ${JSON.stringify(body)}`);
}

/** Speaks to one namespace as its administrator. */
export function inNamespace(kubernetes: Kubernetes, namespace: string) {
  const path = (plural: string, name: string) => `${API}/namespaces/${namespace}/${plural}/${name}`;
  const secretPath = (name: string) => `/api/v1/namespaces/${namespace}/secrets/${name}`;

  /** The body of an object; undefined where there is none. */
  async function read<T>(at: string): Promise<T | undefined> {
    const { status, body } = await kubernetes.request("GET", at);
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(`${at}: ${JSON.stringify(body)}`);
    return body as T;
  }

  async function change(at: string, patch: object): Promise<void> {
    const { status, body } = await kubernetes.request("PATCH", at, {
      body: JSON.stringify(patch),
      contentType: "application/merge-patch+json",
    });
    if (status !== 200) throw new Error(`${at}: ${JSON.stringify(body)}`);
  }

  const key = (name: string) => read<Key>(path("platformkeys", name));
  const holds = (what: string, name: string, matches: (key: Key, reason: string) => boolean) =>
    until(
      `${name} ${what}`,
      async () => {
        const found = await key(name);
        const ready = found?.status?.conditions?.find(({ type }) => type === "Ready");
        return found !== undefined && ready !== undefined && matches(found, ready.reason) ? found : undefined;
      },
      ASKING,
    );

  return {
    path,
    secretPath,
    read,
    change,
    key,
    holds,
    apply: (manifests: string) => applyAll(kubernetes, manifests, { namespace }),
    changeKey: (name: string, spec: object) => change(path("platformkeys", name), { spec }),
    /** Asks for one after the other: the API server is busy enough. */
    async ready(...names: string[]): Promise<void> {
      for (const name of names) {
        await holds(
          "is Ready",
          name,
          (found, reason) => reason === "Ready" && found.status?.observedGeneration === found.metadata.generation,
        );
      }
    },
    /** Has something deleted, and does not wait for what holds it. */
    async drop(at: string): Promise<void> {
      await kubernetes.request("DELETE", at);
    },
    async remove(at: string): Promise<void> {
      await kubernetes.request("DELETE", at);
      await until(`${at} is gone`, async () => (await read(at)) === undefined, ASKING);
    },
  };
}
