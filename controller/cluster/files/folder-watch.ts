/**
 * Kernel notifications for a folder and the folders below it, with one watch for each. Node's recursive watch is not
 * used: on Linux, when a file takes the place of a folder at the wrong moment, it throws in an event handler of its
 * own, where no caller can catch the error.
 */
import {
  type Dirent,
  type FSWatcher,
  lstatSync,
  readdirSync,
  type Stats,
  statSync,
  type WatchEventType,
  watch,
} from "node:fs";
import { basename, join, resolve, sep } from "node:path";
import { hasCode } from "../../../runtime/error-code.ts";

/** Milliseconds without notifications after the kernel had no more watches or files to give. */
const RETRY_MS = 60_000;
const EXHAUSTED = ["ENOSPC", "EMFILE", "ENFILE", "ENOMEM"];

export type FolderWatch = {
  /** Begins to watch the folder if it is not watched: it may have come, or come back. Never throws. */
  open(): void;
  close(): void;
};

/**
 * Makes a watch of a folder. Links below the folder are not followed: a change behind a link is reported as a change of
 * the link. A path that cannot be watched is left out.
 *
 * @param onTouched called with the path below `root` that a notification names; a folder's path stands for all that is
 * in it
 */
export function createFolderWatch(
  root: string,
  clock: { monotonic(): number },
  onTouched: (path: string, event: WatchEventType) => void,
): FolderWatch {
  const top = resolve(root);
  const watchers = new Map<string, FSWatcher>();
  let openAt = 0;

  /** Watches whatever is at the path now, and no longer what was there before. */
  function renew(path: string): void {
    end(path);
    const watched = join(top, path);
    try {
      leavingOut(path, () => begin(path, path === "" ? statSync(watched) : lstatSync(watched)));
    } catch {
      close();
      openAt = clock.monotonic() + RETRY_MS;
    }
  }

  /** Watches a folder before looking into it: what comes later is notified, and what was there is found. */
  function begin(path: string, there: Dirent | Stats): void {
    if (!there.isDirectory() && !there.isSymbolicLink()) return;
    const watched = join(top, path);
    const watcher = watch(watched, { persistent: false }, (event, name) => {
      // The end of a folder is notified in its parent, and in itself under its own name, which is all the topmost has.
      const isOwn = there.isSymbolicLink() || name === null || name === basename(watched);
      const touched = isOwn ? path : join(path, String(name));
      if (event === "rename") renew(touched);
      onTouched(touched, event);
    });
    watchers.set(path, watcher);
    watcher.on("error", () => end(path));
    if (!there.isDirectory()) return;
    for (const entry of readdirSync(watched, { withFileTypes: true })) {
      const below = join(path, entry.name);
      leavingOut(below, () => begin(below, entry));
    }
  }

  /**
   * Runs an action on a path. A path that is gone, closed to us, or cannot be watched for another reason is left out,
   * and keeps nothing else from being watched.
   */
  function leavingOut(path: string, act: () => void): void {
    try {
      act();
    } catch (error) {
      if (hasCode(error, ...EXHAUSTED)) throw error;
      end(path);
    }
  }

  /** Ends the watches at the path and below it. */
  function end(path: string): void {
    if (!watchers.has(path)) return;
    for (const [other, watcher] of watchers) {
      if (path !== "" && other !== path && !other.startsWith(path + sep)) continue;
      watcher.close();
      watchers.delete(other);
    }
  }

  function close(): void {
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
  }

  return {
    open() {
      if (!watchers.has("") && clock.monotonic() >= openAt) renew("");
    },
    close,
  };
}
