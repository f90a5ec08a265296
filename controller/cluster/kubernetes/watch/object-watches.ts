/** Watches of our kinds, and a record of which of their lists can be believed. */
import { isClusterScoped, type Kind } from "../../../../domain/kinds/kinds.ts";
import type { LogLine } from "../../../../runtime/log-line.ts";
import type { ObjectRef } from "../../port.ts";
import { titleOf } from "../../titles.ts";
import { isForbidden, isNotServed } from "../api/api-error.ts";
import { objectsPath, watchedCollections } from "../resources.ts";
import type { WatchedObjects } from "./objects.ts";
import type { Reflectors } from "./reflectors.ts";

export type ObjectWatches = {
  /** Watches until the signal. Resolves once everything that does not refuse us has been listed. */
  start(signal: AbortSignal): Promise<void>;
  /** Returns the namespaces of a kind that have been listed, as `listedNamespaces` of the port. */
  listedNamespaces(kind: Kind): readonly string[] | null;
  /**
   * Has all objects of this object's kind listed again.
   *
   * @param why returns the text for the log, given the object's title
   */
  listAgain(ref: ObjectRef, why: (title: string) => string): void;
};

type ObjectWatchesOptions = {
  readonly reflectors: Pick<Reflectors, "start">;
  readonly objects: Pick<WatchedObjects, "read" | "sink">;
  /** Namespaces that are served; null for all. */
  readonly namespaces: readonly string[] | null;
  readonly log: LogLine;
  /** Called after each complete list. */
  readonly onListed: () => void;
};

export function createObjectWatches(options: ObjectWatchesOptions): ObjectWatches {
  const { reflectors, objects, namespaces, log } = options;
  /** Collections that have been listed, by kind and namespace. */
  const listed = new Set<string>();
  /** Collections of which the last list, or the watch since, was found to be wrong. */
  const wronglyListed = new Set<string>();

  function watch(kind: Kind, namespace: string, signal: AbortSignal): Promise<void> {
    const { promise: attempted, resolve } = Promise.withResolvers<void>();
    const collection = {
      path: objectsPath(kind, namespace),
      what: namespace === "" ? kind : `${kind} in ${namespace}`,
      read: (raw: unknown) => objects.read(kind, raw),
      sink: objects.sink(kind, namespace),
      mustList: () => wronglyListed.delete(collectionOf(kind, namespace)),
      onFailed(error: unknown) {
        // A namespace that refuses us holds up no other, nor does a kind that is gone: kinds go one by one.
        if ((namespace !== "" && isForbidden(error)) || isNotServed(error)) resolve();
      },
      onListed() {
        listed.add(collectionOf(kind, namespace));
        options.onListed();
        resolve();
      },
    };
    return Promise.race([attempted, reflectors.start(collection, signal)]);
  }

  return {
    async start(signal) {
      await Promise.all(watchedCollections(namespaces).map(({ kind, namespace }) => watch(kind, namespace, signal)));
    },
    listedNamespaces(kind) {
      const isListed = (namespace: string) => listed.has(collectionOf(kind, namespace));
      if (namespaces === null || isClusterScoped(kind)) return isListed("") ? namespaces : [];
      return namespaces.filter(isListed);
    },
    listAgain(ref, why) {
      const collection = collectionOf(ref.kind, namespaces === null ? "" : ref.namespace);
      if (!wronglyListed.has(collection)) {
        log("warn", `${why(titleOf(ref))}: all of its kind are listed again`);
      }
      wronglyListed.add(collection);
    },
  };
}

/** Returns the name of a reflector's collection. */
const collectionOf = (kind: Kind, namespace: string): string => `${kind}/${isClusterScoped(kind) ? "" : namespace}`;
