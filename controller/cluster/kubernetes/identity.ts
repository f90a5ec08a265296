/**
 * Check that the server that answers is still the cluster that this was opened on. A kubeconfig's address may lead to
 * another cluster by now: a restored cluster, a load balancer, a name that has moved.
 */
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import type { LogLine } from "../../../runtime/log-line.ts";
import type { ApiClient } from "./api/api-client.ts";
import { readError } from "./api/api-error.ts";
import type { ApiRequest } from "./api/transport.ts";
import { KUBE_SYSTEM_PATH } from "./resources.ts";

export type ClusterIdentity = {
  /** Uid of `kube-system`, which lives as long as its cluster. */
  readonly uid: string;
  /**
   * Asks, after this call, which cluster answers. Callers that wait at once share one request.
   *
   * @throws Error if it is another cluster, or gives no answer: nothing that was heard just before is to be believed
   */
  confirm(): Promise<void>;
  /** True if another cluster answered the last time this was asked. */
  isReplaced(): boolean;
};

/**
 * Reads the identity of the cluster that answers now.
 *
 * @throws Error if the cluster cannot be reached, or its answer has no uid
 */
export async function readClusterIdentity(api: ApiClient, log: LogLine): Promise<ClusterIdentity> {
  const uid = await readClusterUid(api);
  let isReplaced = false;
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  async function ask(): Promise<void> {
    const found = await readClusterUid(api, { maxAttempts: 1 });
    if (isReplaced !== (found !== uid)) {
      isReplaced = found !== uid;
      if (isReplaced) log("error", `${otherCluster(found, uid)}: its answers are ignored, and nothing is changed`);
      else log("info", `the API server is that of the cluster ${uid} again`);
    }
    if (isReplaced) throw new Error(otherCluster(found, uid));
  }

  return {
    uid,
    isReplaced: () => isReplaced,
    confirm() {
      next ??= running
        .catch(() => {})
        .then(() => {
          next = undefined;
          running = ask();
          return running;
        });
      return next;
    },
  };
}

const otherCluster = (found: string, uid: string): string =>
  `the API server is another cluster's (kube-system has the uid ${found}) than the one this was started on (${uid})`;

async function readClusterUid(api: ApiClient, patience: Pick<ApiRequest, "maxAttempts"> = {}): Promise<string> {
  try {
    const namespace = await api.request({ method: "GET", path: KUBE_SYSTEM_PATH, ...patience });
    const { metadata } = isRecord(namespace) ? namespace : {};
    if (isRecord(metadata) && typeof metadata.uid === "string") return metadata.uid;
    throw new Error("it has no uid");
  } catch (error) {
    throw readError(error, "reading the namespace kube-system, whose uid names the cluster");
  }
}
