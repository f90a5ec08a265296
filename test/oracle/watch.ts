import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { StartedKubernetes } from "../env/kubernetes.ts";

/** An object of the cluster, as far as the oracle looks at it. */
export type WatchedObject = {
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly { readonly uid: string }[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: {
    readonly observedGeneration?: number;
    readonly keyID?: string;
    readonly conditions?: readonly Condition[];
  };
};

type Condition = {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
};

export const keysPath = (namespace: string) => `/apis/keyplane.dev/v1alpha1/namespaces/${namespace}/platformkeys`;
export const secretsPath = (namespace: string) => `/api/v1/namespaces/${namespace}/secrets`;
export const TEAMS_PATH = "/apis/keyplane.dev/v1alpha1/platformteams";

type Line = { readonly type: string; readonly object: WatchedObject };

const PAUSE_MS = 200;

/**
 * Reports every state that the objects of a collection have been in, from a list and then a watch that goes on from
 * where it was when it breaks. Directly at the API server: no fault stands between.
 *
 * @param onState called with each object's new state, and with its last one and `gone`
 */
export async function watchAll(
  { address }: Pick<StartedKubernetes, "address">,
  path: string,
  onState: (object: WatchedObject, gone: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  const ca = await readFile(join(address.folder, "apiserver.crt"));
  const agent = new Agent({ ca, keepAlive: true });
  const known = new Map<string, WatchedObject>();

  async function* linesOf(query: string): AsyncGenerator<string> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const headers = { authorization: `Bearer ${address.token}`, accept: "application/json" };
    const asked = request(new URL(`${path}?${query}`, address.url), { agent, headers, signal }, resolve);
    asked.on("error", reject).end();
    const response = await promise;
    if (response.statusCode !== 200) throw new Error(`${response.statusCode} of ${path}`);
    let rest = "";
    // Ends with an error when the connection breaks; readline would wait for ever.
    for await (const chunk of response.setEncoding("utf8")) {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
    if (rest !== "") yield rest;
  }

  async function list(): Promise<string> {
    let text = "";
    for await (const line of linesOf("")) text += line;
    const { metadata, items }: { metadata: { resourceVersion: string }; items: WatchedObject[] } = JSON.parse(text);
    const present = new Set(items.map((item) => item.metadata.uid));
    for (const [uid, object] of known) if (!present.has(uid)) report(object, true);
    for (const item of items) report(item, false);
    return metadata.resourceVersion;
  }

  function report(object: WatchedObject, gone: boolean): void {
    if (gone) known.delete(object.metadata.uid);
    else known.set(object.metadata.uid, object);
    onState(object, gone);
  }

  let from: string | undefined;
  while (!signal.aborted) {
    try {
      from ??= await list();
      for await (const line of linesOf(`watch=true&allowWatchBookmarks=true&resourceVersion=${from}`)) {
        const { type, object }: Line = JSON.parse(line);
        if (type === "ERROR") {
          from = undefined;
          break;
        }
        from = object.metadata.resourceVersion;
        if (type !== "BOOKMARK") report(object, type === "DELETED");
      }
    } catch {
      // The API server is being restarted, or the run is over.
    }
    await delay(PAUSE_MS, undefined, { signal }).catch(() => {});
  }
  agent.destroy();
}
