/**
 * Notices that a namespace is being deleted, which cannot be undone: what is declared in it ends then, whether or not it
 * has been deleted itself by now. A namespace is asked for by name, since the right to list them all is not ours.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { LogLine } from "../../deps.ts";
import type { DeclaredObject } from "../port.ts";
import type { ApiClient } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import { readNamespace } from "./namespace.ts";

/** The time between two rounds, and from one question of a round to the next. Milliseconds. */
const ROUND_MS = 20_000;
const PAUSE_MS = 100;

export type EndingNamespaces = {
  /** Whether an object ends with its namespace. One that was made since is of another namespace by that name. */
  takes(object: DeclaredObject): boolean;
  /** Asks in rounds until the signal. */
  run(signal: AbortSignal): Promise<void>;
};

/**
 * @param inUse the namespaces in which something is declared
 * @param onChange told of each that ends from now on, and of each whose name is another's by now
 */
export function createEndingNamespaces(
  api: ApiClient,
  inUse: () => ReadonlySet<string>,
  onChange: (namespace: string) => void,
  log: LogLine,
): EndingNamespaces {
  /** Since when each is being deleted, by the API server's clock, as its objects' times are. Milliseconds. */
  const endings = new Map<string, number>();
  /** The kinds of failure that were told of, until a round goes without any: each says the same of all namespaces. */
  const toldOf = new Set<number | null | undefined>();

  async function ask(namespace: string, signal: AbortSignal): Promise<void> {
    const found = await readNamespace(api, namespace, signal);
    const before = endings.get(namespace);
    if (found?.endingSince === undefined) endings.delete(namespace);
    else endings.set(namespace, found.endingSince);
    if (endings.get(namespace) === before) return;
    if (before === undefined) log("info", `the namespace ${namespace} is being deleted: what is declared in it ends`);
    onChange(namespace);
  }

  async function goRound(signal: AbortSignal): Promise<void> {
    const namespaces = inUse();
    for (const gone of [...endings.keys()].filter((one) => !namespaces.has(one))) endings.delete(gone);
    let failures = 0;
    for (const namespace of namespaces) {
      await ask(namespace, signal).catch((error: unknown) => {
        if (signal.aborted) return;
        failures++;
        const status = error instanceof ApiError ? error.status : undefined;
        const message = error instanceof Error ? error.message : String(error);
        if (!toldOf.has(status)) log("warn", `while asking whether the namespace ${namespace} ends: ${message}`);
        toldOf.add(status);
      });
      await delay(PAUSE_MS, undefined, { signal });
    }
    if (failures === 0) toldOf.clear();
  }

  return {
    takes: ({ namespace, createdAt }) => createdAt <= (endings.get(namespace) ?? Number.NEGATIVE_INFINITY),
    async run(signal) {
      while (!signal.aborted) {
        await goRound(signal)
          .then(() => delay(ROUND_MS, undefined, { signal }))
          .catch(() => {});
      }
    },
  };
}
