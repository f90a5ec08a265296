/**
 * Notices that a Secret that matters has changed. Only metadata is watched, and only in the namespaces where a Secret
 * is referred to; a change counts when the watch has a later version than the one that was last read or written, so
 * that no write of our own is news. Of the others there the version is kept: what refers to one may be heard of later.
 */
import { isRecord } from "../../../../domain/manifest/identity.ts";
import type { Sink } from "../watch/reflector.ts";
import { isLater } from "../watch/resource-version.ts";

/** A Secret's name and version, from its metadata. */
export type SecretVersion = { readonly name: string; readonly version: string };

/**
 * Of one Secret: the last version that was heard of, the last that was read or written ({@link NONE} for none there),
 * whether reading it was refused, and how many writes of ours are under way: a version that is heard of before their
 * answer may be theirs.
 */
type Known = {
  readonly heard?: string;
  readonly isGone?: boolean;
  readonly seen?: string;
  readonly isForbidden?: boolean;
  readonly writing?: number;
};

export type SecretNews = {
  /** The version that was last heard of, read or written; null for none. */
  latest(namespace: string, name: string): string | null;
  /** Takes what a reflector of one namespace reads. */
  sink(namespace: string): Sink<SecretVersion>;
  /** A version was read or written; null for none there. */
  seen(namespace: string, name: string, version: string | null): void;
  /**
   * Reading it was refused. This is not announced, and neither are its changes, since they cannot be read. It is
   * announced when its namespace is listed next; until then a caller that needs it retries by itself.
   */
  forbidden(namespace: string, name: string): void;
  /** A write of ours is under way until the result is called. */
  writing(namespace: string, name: string): () => void;
  /** Nothing refers to it any more. */
  drop(namespace: string, name: string): void;
  /** Its Secrets are not watched any more. */
  dropAll(namespace: string): void;
};

/** The version of what is not there. */
const NONE = "0";

/** The media types of metadata alone. */
export const METADATA_ONLY = {
  list: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
  watch: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
};

export function readSecretVersion(raw: unknown): SecretVersion {
  const { metadata } = isRecord(raw) ? raw : {};
  const { name, resourceVersion } = isRecord(metadata) ? metadata : {};
  if (typeof name !== "string" || typeof resourceVersion !== "string") throw new Error("a Secret without a name");
  return { name, version: resourceVersion };
}

/**
 * @param matters whether anything refers to a Secret
 * @param announce called with each Secret that is no longer as it was last read
 */
export function createSecretNews(
  matters: (namespace: string, name: string) => boolean,
  announce: (namespace: string, name: string) => void,
): SecretNews {
  const known = new Map<string, Map<string, Known>>();

  function note(namespace: string, name: string, what: Known): void {
    const isOthers = !matters(namespace, name);
    if (isOthers && what.heard === undefined) return;
    let names = known.get(namespace);
    if (names === undefined) {
      names = new Map();
      known.set(namespace, names);
    }
    const before = names.get(name);
    const now = { ...before, ...what };
    if (isOthers && now.isGone) names.delete(name);
    else names.set(name, now);
    if (!isOthers && isNews(now, before)) announce(namespace, name);
  }

  /**
   * A second list is believed even where it is older than what was seen: the server may have been restored. Or a write
   * of ours came after it, and one look too many is taken.
   */
  function noteListed(
    namespace: string,
    name: string,
    listed: Pick<Required<Known>, "heard" | "isGone">,
    isFirst: boolean,
  ): void {
    const { seen, isForbidden = false, writing = 0 } = known.get(namespace)?.get(name) ?? {};
    const isOlder = !isFirst && seen !== undefined && seen !== NONE && isLater(seen, listed.heard);
    if (isOlder || isForbidden) known.get(namespace)?.set(name, { writing });
    note(namespace, name, listed);
    if ((isOlder || isForbidden) && writing === 0) announce(namespace, name);
  }

  return {
    latest(namespace, name) {
      const { heard, isGone = false, seen } = known.get(namespace)?.get(name) ?? {};
      if (seen !== undefined && (heard === undefined || !isLater(heard, seen))) return seen === NONE ? null : seen;
      return isGone ? null : (heard ?? null);
    },
    sink(namespace) {
      let isFirst = true;
      return {
        replace(items, version) {
          const present = new Set(items.map(({ name }) => name));
          for (const [name, { seen }] of known.get(namespace) ?? []) {
            if (!present.has(name) && seen !== NONE) {
              noteListed(namespace, name, { heard: version, isGone: true }, isFirst);
            }
          }
          for (const { name, version: heard } of items) {
            noteListed(namespace, name, { heard, isGone: false }, isFirst);
          }
          isFirst = false;
        },
        put: ({ name, version }) => note(namespace, name, { heard: version, isGone: false }),
        remove: ({ name, version }) => note(namespace, name, { heard: version, isGone: true }),
      };
    },
    seen: (namespace, name, version) => note(namespace, name, { seen: version ?? NONE, isForbidden: false }),
    forbidden: (namespace, name) => note(namespace, name, { isForbidden: true }),
    writing(namespace, name) {
      const count = () => known.get(namespace)?.get(name)?.writing ?? 0;
      note(namespace, name, { writing: count() + 1 });
      return () => note(namespace, name, { writing: count() - 1 });
    },
    drop(namespace, name) {
      const { heard, isGone } = known.get(namespace)?.get(name) ?? {};
      if (heard === undefined || isGone) known.get(namespace)?.delete(name);
      else known.get(namespace)?.set(name, { heard });
    },
    dropAll: (namespace) => known.delete(namespace),
  };
}

function isNews({ heard, isGone, seen, isForbidden, writing = 0 }: Known, before: Known | undefined): boolean {
  if (isForbidden || writing > 0 || heard === undefined || (isGone && seen === NONE)) return false;
  if (seen === undefined) return heard !== before?.heard || isGone !== before.isGone;
  return heard !== seen && isLater(heard, seen);
}
