/**
 * Notices that a namespace is being deleted, which cannot be undone, or is gone though something is declared in it, as
 * after a forced deletion. The objects declared in it end then, whether or not they have been deleted themselves by
 * now. A namespace is requested by name, since we have no right to list them all.
 */
import { setTimeout as delay } from "node:timers/promises";
import { errorText } from "../../../domain/error-text.ts";
import { ANSWERS_APART_MS, exceedsDeletionLimit } from "../../../domain/garbage-collection.ts";
import type { LogLine } from "../../../runtime/log-line.ts";
import type { DeclaredObject } from "../port.ts";
import type { ApiClient } from "./api/api-client.ts";
import { ApiError } from "./api/api-error.ts";
import { readNamespace } from "./namespace.ts";

/** Milliseconds from one request of a look to the next; below, between two looks. */
const PAUSE_MS = 100;
const INTERVAL_MS = ANSWERS_APART_MS;

export type EndingNamespacesOptions = {
  readonly api: ApiClient;
  /** Rejects if another cluster answers. */
  readonly confirm: () => Promise<void>;
  /** Returns the number of objects that are declared in each namespace. */
  readonly inUse: () => ReadonlyMap<string, number>;
  /** Called with each namespace that ends from now on, and with each whose name is a new namespace's by now. */
  readonly onChange: (namespace: string) => void;
  readonly clock: { monotonic(): number };
  readonly log: LogLine;
};

export type EndingNamespaces = {
  /**
   * True if an object ends with its namespace. An object that was made since belongs to a new namespace of that name.
   */
  takes(object: DeclaredObject): boolean;
  /** True if an object ends with its namespace, which still exists and takes nothing new. */
  isTerminating(object: DeclaredObject): boolean;
  /** Looks at a namespace that something has reported to be ending, before its turn. */
  hint(namespace: string, signal: AbortSignal): void;
  /** Looks at each namespace once. */
  look(signal: AbortSignal): Promise<void>;
  /** Looks at each namespace now and then, until the signal. */
  run(signal: AbortSignal): Promise<void>;
};

export function createEndingNamespaces(options: EndingNamespacesOptions): EndingNamespaces {
  const { api, confirm, inUse, onChange, clock, log } = options;
  /**
   * Time since which each namespace is being deleted, in milliseconds by the API server's clock, as the times of its
   * objects are; Infinity for a namespace that is gone.
   */
  const endings = new Map<string, number>();
  /** Time at which each namespace was first found to be gone, on the monotonic clock. */
  const missing = new Map<string, number>();
  /** Namespaces that are looked at because of a hint. */
  const hinted = new Set<string>();
  /** Kinds of failure that were logged, until a look has none: each kind concerns all namespaces alike. */
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

  /**
   * Returns since when a namespace that cannot be found counts as ending: as before, until two looks, apart from each
   * other, find it gone.
   */
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
      // A namespace that cannot be read is looked at again in its turn.
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
