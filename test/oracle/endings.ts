/** Keys that are to be refused, however many come to that at once (spec §6.4, threats c71). */
import type { RuleBreach } from "./rules.ts";
import type { Row } from "./standings.ts";
import type { WatchedObject } from "./watch.ts";

/** How soon they are, once a controller that nothing disturbs has seen it, in milliseconds. */
const REFUSED_WITHIN = 30_000;

export type Endings = {
  /** Takes in a state of a declaration. */
  see(key: WatchedObject, gone: boolean): void;
  /** Those which the store lets work though nothing has disturbed the controllers for longer than that. */
  late(rows: readonly Row[], undisturbedSince: number): RuleBreach[];
};

/** @param allowance what a noisy machine may add, in milliseconds */
export function watchEndings(allowance: number): Endings {
  /** By uid: the declaration's title, and since when. */
  const ending = new Map<string, { readonly title: string; readonly since: number }>();
  return {
    see(key, gone) {
      const { uid, namespace, name } = key.metadata;
      if (gone || !isToEnd(key)) ending.delete(uid);
      else if (!ending.has(uid)) ending.set(uid, { title: `${namespace}/${name}`, since: Date.now() });
    },
    late(rows, undisturbedSince) {
      const now = Date.now();
      return rows.flatMap(({ usable, ownerUid, version }) => {
        const { title, since } = ending.get(ownerUid ?? "") ?? {};
        if (!usable || title === undefined || since === undefined) return [];
        const late = now - Math.max(since, undisturbedSince);
        if (late <= REFUSED_WITHIN + allowance) return [];
        return [{ subject: title, what: `version ${version} works ${Math.round(late / 1_000)} s after it was to end` }];
      });
    },
  };
}

/** By its declaration alone. Garbage collection has what is deleted without a finalizer. */
function isToEnd({ metadata, spec }: WatchedObject): boolean {
  const { deletionTimestamp, finalizers = [] } = metadata;
  const lives = spec?.deletionPolicy === "Retain" || spec?.deletionProtection === true;
  const isDeleted = deletionTimestamp !== undefined && finalizers.length > 0;
  return (isDeleted && !lives) || spec?.state === "Suspended" || spec?.state === "Revoked";
}
