/** Watches of Secrets, one in each namespace where a Secret is referred to. */

import { secretsPath } from "../resources.ts";
import type { Reflectors } from "../watch/reflectors.ts";
import { METADATA_ONLY, readSecretVersion, type SecretChanges } from "./secret-changes.ts";

type SecretWatch = {
  /** Resolves once the Secrets were listed, or could not be. */
  readonly attempted: Promise<void>;
  isListed: boolean;
  /** True if what was heard last may not be true any more. */
  isStale: boolean;
  end(): void;
};

export type SecretWatches = {
  start(namespace: string, signal: AbortSignal): void;
  end(namespace: string): void;
  /** Resolves once all watches that were started have listed, or could not. */
  attempted(): Promise<void>;
  /** Returns the version of a Secret, as `cachedSecretVersion` of the port. */
  cachedVersion(namespace: string, name: string): string | null | undefined;
};

export function createSecretWatches(
  reflectors: Pick<Reflectors, "start">,
  changes: Pick<SecretChanges, "sink" | "latest">,
): SecretWatches {
  const watches = new Map<string, SecretWatch>();

  return {
    start(namespace, signal) {
      const ended = new AbortController();
      const { promise: attempted, resolve } = Promise.withResolvers<void>();
      const watch: SecretWatch = { attempted, isListed: false, isStale: false, end: () => ended.abort() };
      watches.set(namespace, watch);
      const collection = {
        path: secretsPath(namespace),
        what: `the Secrets of ${namespace}`,
        accept: METADATA_ONLY,
        read: readSecretVersion,
        sink: changes.sink(namespace),
        onHeard() {
          if (watch.isListed) watch.isStale = false;
        },
        onFailed() {
          watch.isStale = true;
          resolve();
        },
        onListed() {
          Object.assign(watch, { isListed: true, isStale: false });
          resolve();
        },
      };
      void reflectors.start(collection, AbortSignal.any([signal, ended.signal])).finally(resolve);
    },
    end: (namespace) => watches.get(namespace)?.end(),
    async attempted() {
      await Promise.all([...watches.values()].map((watch) => watch.attempted));
    },
    cachedVersion: (namespace, name) =>
      watches.get(namespace)?.isStale === false ? changes.latest(namespace, name) : undefined,
  };
}
