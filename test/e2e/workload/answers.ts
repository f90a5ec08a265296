import { setTimeout as delay } from "node:timers/promises";
import type { Tally } from "./client.ts";
import type { WorkloadCluster } from "./cluster.ts";

/** Before the log of a pod that goes on is followed again, in milliseconds: a node may end that at any time. */
const AGAIN_MS = 250;

/** What a pod has seen so far. */
export type PodAnswers = { readonly pod: string; readonly app: string; readonly tallies: readonly Tally[] };

/**
 * Follows the log of every pod of a namespace to its end, those that come later too.
 *
 * @returns what each of them has printed last
 */
export function followAnswers(cluster: WorkloadCluster, namespace: string, signal: AbortSignal): () => PodAnswers[] {
  const pods = new Map<string, PodAnswers>();
  const gone = new Set<string>();
  const output = 'jsonpath={.type} {.object.metadata.name} {.object.metadata.labels.app} {.object.status.phase}{"\\n"}';
  const watch = ["get", "pods", "--namespace", namespace, "--watch", "--output-watch-events", `--output=${output}`];
  void cluster.followKubectl(watch, signal, (line) => {
    const [event, pod = "", app = "", phase] = line.split(" ");
    if (event === "DELETED") gone.add(pod);
    if (phase === "Pending" || pods.has(pod)) return;
    pods.set(pod, { pod, app, tallies: [] });
    void follow(pod, app);
  });

  /** Each line is the whole of what the pod has seen: the last one is enough to go on. */
  async function follow(pod: string, app: string): Promise<void> {
    while (!signal.aborted && !gone.has(pod)) {
      await cluster.followKubectl(
        ["logs", "--follow", "--tail=1", pod, "--namespace", namespace],
        signal,
        (printed) => {
          if (printed.startsWith("[{")) pods.set(pod, { pod, app, tallies: JSON.parse(printed) });
        },
      );
      await delay(AGAIN_MS);
    }
  }
  return () => [...pods.values()];
}
