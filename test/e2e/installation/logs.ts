import { setTimeout as delay } from "node:timers/promises";
import type { WorkloadCluster } from "../workload/cluster.ts";

/** Before the log of a pod that goes on is followed again, in milliseconds: a container may have ended, or its node's way. */
const AGAIN_MS = 500;

/**
 * Follows the log of every pod of a namespace to its end, those that come later too.
 *
 * @returns what each has printed, some of it twice
 */
export function followLogs(
  cluster: WorkloadCluster,
  namespace: string,
  signal: AbortSignal,
): ReadonlyMap<string, readonly string[]> {
  const logs = new Map<string, string[]>();
  const gone = new Set<string>();
  const output = 'jsonpath={.type} {.object.metadata.name} {.object.status.phase}{"\\n"}';
  const watch = ["get", "pods", "--namespace", namespace, "--watch", "--output-watch-events", `--output=${output}`];

  async function follow(pod: string, lines: string[]): Promise<void> {
    while (!signal.aborted && !gone.has(pod)) {
      await cluster.followKubectl(["logs", "--follow", pod, "--namespace", namespace], signal, (line) =>
        lines.push(line),
      );
      await delay(AGAIN_MS);
    }
  }

  void (async () => {
    while (!signal.aborted) {
      await cluster.followKubectl(watch, signal, (line) => {
        const [event, pod = "", phase] = line.split(" ");
        if (event === "DELETED") gone.add(pod);
        if (phase === "Pending" || logs.has(pod)) return;
        const lines: string[] = [];
        logs.set(pod, lines);
        void follow(pod, lines);
      });
      await delay(AGAIN_MS);
    }
  })();
  return logs;
}
