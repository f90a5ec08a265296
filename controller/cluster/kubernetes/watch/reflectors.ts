/**
 * Reflectors of one cluster: what each of them is given, when it last heard of the server, and that all have ended. If
 * one finds that the cluster was restored from a backup, all list again: a reflector that reopens its watch only after
 * the restored store has overtaken what it heard cannot find out by itself.
 */
import type { LogLine } from "../../../../runtime/log-line.ts";
import type { ApiClient } from "../api/api-client.ts";
import { type ReflectorOptions, reflect } from "./reflector.ts";

export type Collection<T> = Pick<
  ReflectorOptions<T>,
  "path" | "what" | "accept" | "read" | "sink" | "onFailed" | "mustList"
> & {
  /** Called whenever the server answers, or sends an event. */
  readonly onHeard?: () => void;
  /** Called after each complete list. */
  readonly onListed: () => void;
};

export type Reflectors = {
  /** Keeps up with a collection until the signal. Resolves, or rejects, as the reflector ends. */
  start<T>(collection: Collection<T>, signal: AbortSignal): Promise<void>;
  /** Makes the cluster wait for another task before it is closed. */
  keep(task: Promise<void>): void;
  /** Times at which each running reflector last heard of the server, on the monotonic clock, by what it watches. */
  readonly heardAt: ReadonlyMap<string, number>;
  /** Resolves once all that was started has ended. */
  ended(): Promise<void>;
};

/** @param confirm rejects if another cluster answers */
export function createReflectors(options: {
  readonly api: ApiClient;
  readonly clock: { monotonic(): number };
  readonly random: () => number;
  readonly log: LogLine;
  readonly confirm: () => Promise<void>;
}): Reflectors {
  const { api, clock, random, log, confirm } = options;
  const running = new Set<Promise<void>>();
  const heardAt = new Map<string, number>();
  /** Number of restores of the cluster that were found. */
  let restores = 0;

  function keep(task: Promise<void>): void {
    running.add(task);
    void task.finally(() => running.delete(task));
  }

  return {
    start({ onHeard, onListed, ...collection }, signal) {
      const heard = () => {
        heardAt.set(collection.what, clock.monotonic());
        onHeard?.();
      };
      /** Number of those restores since which this collection was listed, or is being listed. */
      let listedSince = restores;
      const onRestored = () => {
        // Another may have found it first.
        if (listedSince === restores) listedSince = ++restores;
      };
      const mustList = () => {
        const wasRestored = listedSince < restores;
        listedSince = restores;
        return collection.mustList?.() === true || wasRestored;
      };
      const reflector = reflect(
        { ...collection, ...{ api, random, log, confirm, onHeard: heard, onRestored, mustList } },
        onListed,
        signal,
      ).finally(() => heardAt.delete(collection.what));
      keep(reflector);
      return reflector;
    },
    keep,
    heardAt,
    async ended() {
      await Promise.all(running);
    },
  };
}
