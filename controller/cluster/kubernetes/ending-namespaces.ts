/**
 * Notices that a namespace is being deleted, which cannot be undone, or is gone though something is declared in it, as
 * when it was forced to go: what is declared in it ends then, whether or not it has been deleted itself by now. A
 * namespace is asked for by name, since the right to list them all is not ours.
 */
import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../../../domain/error-text.ts";
import { ANSWERS_APART_MS, exceedsDeletionLimit } from "../../../domain/garbage-collection.ts";
import type { LogLine } from "../../../runtime/log-line.ts";
import type { DeclaredObject } from "../port.ts";
import type { ApiClient } from "./api/api-client.ts";
import { ApiError } from "./api/api-error.ts";
import { readNamespace } from "./namespace.ts";

/** The time from one question of a look to the next, and between two looks. Milliseconds. */
const PAUSE_MS = 100;
const INTERVAL_MS = ANSWERS_APART_MS;

export type EndingNamespacesOptions = {
  readonly api: ApiClient;
  /** Rejects where it is another cluster that answers. */
  readonly confirm: () => Promise<void>;
  /** How much is declared in each namespace. */
  readonly inUse: () => ReadonlyMap<string, number>;
  /** Called with each namespace that ends from now on, and with each whose name is a new namespace's by now. */
  readonly onChange: (namespace: string) => void;
  readonly clock: { monotonic(): number };
  readonly log: LogLine;
};

export type EndingNamespaces = {
  /** Whether an object ends with its namespace. One that was made since is of another namespace by that name. */
  takes(object: DeclaredObject): boolean;
  /** Whether an object ends with its namespace, which is there still and takes nothing new. */
  isTerminating(object: DeclaredObject): boolean;
  /** Asks for one that something has said to be ending: then it is known before its turn. */
  hint(namespace: string, signal: AbortSignal): void;
  /** Asks for each once. */
  look(signal: AbortSignal): Promise<void>;
  /** Looks now and then, until the signal. */
  run(signal: AbortSignal): Promise<void>;
};

export function createEndingNamespaces(options: EndingNamespacesOptions): EndingNamespaces {
  const { api, confirm, inUse, onChange, clock, log } = options;
  /**
   * Since when each is being deleted, by the API server's clock, as its objects' times are, in milliseconds; Infinity
   * for one that is gone.
   */
  const endings = new Map<string, number>();
  /** When each was first found to be gone, on the steady clock. */
  const missing = new Map<string, number>();
  /** Those that are asked for because of a hint. */
  const hinted = new Set<string>();
  /** The kinds of failure that were logged, until a look has none: each kind concerns all namespaces alike. */
  const loggedFailures = new Set<number | null | undefined>();

  async function ask(namespace: string, used: ReadonlyMap<string, number>, signal: AbortSignal): Promise<void> {
    const askedAt = clock.monotonic();
    const found = await readNamespace(api, namespace, signal);
    if (found !== undefined) missing.delete(namespace);
    const before = endings.get(namespace);
    const since = found === undefined ? sinceMissing(namespace, askedAt, used) : found.endingSince;
    if (since === before) return;
    if (since === undefined) {
      endings.delete(namespace);
    } else {
      await confirm();
      endings.set(namespace, since);
      const what = found === undefined ? "gone" : "being deleted";
      log("info", `the namespace ${namespace} is ${what}: what is declared in it ends`);
    }
    onChange(namespace);
  }

  /** From when a namespace that cannot be found counts as ending: as before, until it is gone at two looks, apart. */
  function sinceMissing(namespace: string, askedAt: number, used: ReadonlyMap<string, number>): number | undefined {
    const firstAt = missing.get(namespace) ?? askedAt;
    missing.set(namespace, firstAt);
    if (askedAt - firstAt < ANSWERS_APART_MS) return endings.get(namespace);
    const count = (names: Iterable<string>) => [...names].reduce((sum, name) => sum + (used.get(name) ?? 0), 0);
    const [lost, total] = [count(missing.keys()), count(used.keys())];
    if (!exceedsDeletionLimit(lost, total)) return Number.POSITIVE_INFINITY;
    log("error", "too many declarations are in namespaces that do not exist: none of them ends", { lost, total });
    return endings.get(namespace);
  }

  const takes = ({ namespace, createdAt }: DeclaredObject): boolean =>
    createdAt <= (endings.get(namespace) ?? Number.NEGATIVE_INFINITY);

  async function look(signal: AbortSignal): Promise<void> {
    const used = inUse();
    for (const known of [endings, missing]) {
      for (const unused of [...known.keys()].filter((one) => !used.has(one))) known.delete(unused);
    }
    let failures = 0;
    for (const namespace of used.keys()) {
      await ask(namespace, used, signal).catch((error: unknown) => {
        if (signal.aborted) return;
        failures++;
        const status = error instanceof ApiError ? error.status : undefined;
        if (!loggedFailures.has(status))
          log("warn", `while asking whether the namespace ${namespace} ends: ${errorText(error)}`);
        loggedFailures.add(status);
      });
      await delay(PAUSE_MS, undefined, { signal });
    }
    if (failures === 0) loggedFailures.clear();
  }

  return {
    look,
    hint(namespace, signal) {
      if (hinted.has(namespace)) return;
      hinted.add(namespace);
      // What fails is asked for again in its turn.
      void ask(namespace, inUse(), signal)
        .catch(() => {})
        .finally(() => hinted.delete(namespace));
    },
    takes,
    isTerminating: (object) => takes(object) && endings.get(object.namespace) !== Number.POSITIVE_INFINITY,
    async run(signal) {
      while (!signal.aborted) {
        await look(signal)
          .then(() => delay(INTERVAL_MS, undefined, { signal }))
          .catch(() => {});
      }
    },
  };
}
