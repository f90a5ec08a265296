/**
 * The reflectors of one cluster: what each of them is given, when it last heard of the server, and that all have ended.
 */
import type { LogLine } from "../../log-line.ts";
import type { ApiClient } from "./api-client.ts";
import { type ReflectorOptions, reflect } from "./reflector.ts";

export type Collection<T> = Pick<
  ReflectorOptions<T>,
  "path" | "what" | "accept" | "read" | "sink" | "onFailed" | "mustList"
> & {
  /** Told whenever the server said anything. */
  readonly onHeard?: () => void;
  /** Told of each complete list. */
  readonly onListed: () => void;
};

export type Reflectors = {
  /** Keeps up with a collection until the signal. Resolves, or rejects, as the reflector ends. */
  start<T>(collection: Collection<T>, signal: AbortSignal): Promise<void>;
  /** Has another task end before the cluster is closed. */
  keep(task: Promise<void>): void;
  /** When each that runs last heard of the server, on the monotonic clock, by what it watches. */
  readonly heardAt: ReadonlyMap<string, number>;
  /** Resolves once all that was started has ended. */
  ended(): Promise<void>;
};

/** @param confirm rejects where it is another cluster that answers */
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
      const reflector = reflect(
        { ...collection, ...{ api, random, log, confirm, onHeard: heard } },
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
