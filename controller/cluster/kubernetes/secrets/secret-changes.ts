/**
 * Notices that a Secret that matters has changed. Only metadata is watched, and only in the namespaces where a Secret
 * is referred to. A change counts if the watch has a later version than the version that was last read or written, so
 * that no write of our own counts. The versions of the other Secrets there are kept too: an object that refers to them
 * may be heard of later.
 */
import { isRecord } from "../../../../domain/manifest/document/identity.ts";
import type { Sink } from "../watch/reflector.ts";
import { isLater } from "../watch/resource-version.ts";

/** Name and version of a Secret, from its metadata. */
export type SecretVersion = { readonly name: string; readonly version: string };

/**
 * Knowledge of one Secret: `heard`, the last version that was heard of; `isGone`, true if the Secret was gone then;
 * `seen`, the last version that was read or written ({@link NONE} if it was not there); `isForbidden`, true if reading
 * it was refused; `writing`, the number of our writes that are under way: a version that is heard of before their
 * answer may be theirs.
 */
type KnownVersions = {
  readonly heard?: string;
  readonly isGone?: boolean;
  readonly seen?: string;
  readonly isForbidden?: boolean;
  readonly writing?: number;
};

/** Version of a Secret that is not there. */
const NONE = "0";

/** Media types of metadata alone. */
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

/** Versions of Secrets, as heard of by watches and as read or written by us. Announces which of them are changes. */
export class SecretChanges {
  /** Knowledge of each Secret, by namespace and name. */
  readonly #known = new Map<string, Map<string, KnownVersions>>();
  readonly #matters: (namespace: string, name: string) => boolean;
  readonly #announce: (namespace: string, name: string) => void;

  /**
   * @param matters returns true if anything refers to a Secret
   * @param announce called with each Secret that is no longer as it was last read
   */
  constructor(
    matters: (namespace: string, name: string) => boolean,
    announce: (namespace: string, name: string) => void,
  ) {
    this.#matters = matters;
    this.#announce = announce;
  }

  /** Returns the version that was last heard of, read or written; null if there is none. */
  latest(namespace: string, name: string): string | null {
    const { heard, isGone = false, seen } = this.#find(namespace, name) ?? {};
    if (seen !== undefined && (heard === undefined || !isLater(heard, seen))) return seen === NONE ? null : seen;
    return isGone ? null : (heard ?? null);
  }

  /** Returns the sink for what a reflector of one namespace reads. */
  sink(namespace: string): Sink<SecretVersion> {
    let isFirst = true;
    return {
      replace: (items, version) => {
        this.#noteList(namespace, items, version, isFirst);
        isFirst = false;
      },
      put: ({ name, version }) => this.#note(namespace, name, { heard: version, isGone: false }),
      remove: ({ name, version }) => this.#note(namespace, name, { heard: version, isGone: true }),
    };
  }

  /** Notes that a version was read or written; null if the Secret was not there. */
  seen(namespace: string, name: string, version: string | null): void {
    this.#note(namespace, name, { seen: version ?? NONE, isForbidden: false });
  }

  /**
   * Notes that reading the Secret was refused. This is not announced, and neither are its changes, since they cannot be
   * read. It is announced when its namespace is listed next; until then a caller that needs it retries by itself.
   */
  forbidden(namespace: string, name: string): void {
    this.#note(namespace, name, { isForbidden: true });
  }

  /** Notes that a write of ours is under way, until the returned function is called. */
  writing(namespace: string, name: string): () => void {
    const count = () => this.#find(namespace, name)?.writing ?? 0;
    this.#note(namespace, name, { writing: count() + 1 });
    return () => this.#note(namespace, name, { writing: count() - 1 });
  }

  /** Notes that nothing refers to the Secret any more. */
  drop(namespace: string, name: string): void {
    const { heard, isGone } = this.#find(namespace, name) ?? {};
    if (heard === undefined || isGone) this.#known.get(namespace)?.delete(name);
    else this.#known.get(namespace)?.set(name, { heard });
  }

  /** Notes that the Secrets of a namespace are not watched any more. */
  dropAll(namespace: string): void {
    this.#known.delete(namespace);
  }

  #find(namespace: string, name: string): KnownVersions | undefined {
    return this.#known.get(namespace)?.get(name);
  }

  /** Adds to what is known of a Secret, and announces it if that is a change. */
  #note(namespace: string, name: string, what: KnownVersions): void {
    const isReferredTo = this.#matters(namespace, name);
    if (!isReferredTo && what.heard === undefined) return;
    let names = this.#known.get(namespace);
    if (names === undefined) {
      names = new Map();
      this.#known.set(namespace, names);
    }
    const before = names.get(name);
    const now = { ...before, ...what };
    if (!isReferredTo && now.isGone) names.delete(name);
    else names.set(name, now);
    if (isReferredTo && isChange(now, before)) this.#announce(namespace, name);
  }

  #noteList(namespace: string, items: readonly SecretVersion[], version: string, isFirst: boolean): void {
    const present = new Set(items.map(({ name }) => name));
    for (const [name, { seen }] of this.#known.get(namespace) ?? []) {
      if (!present.has(name) && seen !== NONE) {
        this.#noteListed(namespace, name, { heard: version, isGone: true }, isFirst);
      }
    }
    for (const { name, version: heard } of items) this.#noteListed(namespace, name, { heard, isGone: false }, isFirst);
  }

  /**
   * Notes a Secret of a list. A second list is believed even if it is older than what was seen: the server may have
   * been restored. If instead a write of ours came after the list, the Secret is read once too often.
   */
  #noteListed(
    namespace: string,
    name: string,
    listed: Pick<Required<KnownVersions>, "heard" | "isGone">,
    isFirst: boolean,
  ): void {
    const { seen, isForbidden = false, writing = 0 } = this.#find(namespace, name) ?? {};
    const isOlder = !isFirst && seen !== undefined && seen !== NONE && isLater(seen, listed.heard);
    if (isOlder || isForbidden) this.#known.get(namespace)?.set(name, { writing });
    this.#note(namespace, name, listed);
    if ((isOlder || isForbidden) && writing === 0) this.#announce(namespace, name);
  }
}

/**
 * True if the version that was heard of is neither the version last read or written nor, perhaps, of a write under way.
 */
function isChange(
  { heard, isGone, seen, isForbidden, writing = 0 }: KnownVersions,
  before: KnownVersions | undefined,
): boolean {
  if (isForbidden || writing > 0 || heard === undefined || (isGone && seen === NONE)) return false;
  if (seen === undefined) return heard !== before?.heard || isGone !== before.isGone;
  return heard !== seen && isLater(heard, seen);
}
