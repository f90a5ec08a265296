/**
 * Which files came whole to their paths, by the kernel's notifications: a file that is created there and written is
 * notified as both, one that is renamed there only as new.
 */
import type { WatchEventType } from "node:fs";
import { isManifestPath } from "./find-files.ts";

export type Arrivals = {
  note(path: string, event: WatchEventType): void;
  /** Whether something came to the path and was not written there, since this was asked last. */
  take(path: string): boolean;
};

/** Reports nothing on systems other than Linux, where one notification may stand for a creation and a write. */
export function createArrivals(platform: NodeJS.Platform = process.platform): Arrivals {
  const arrived = new Set<string>();
  return {
    note(path, event) {
      if (!isManifestPath(path)) return;
      if (event === "rename" && platform === "linux") arrived.add(path);
      else arrived.delete(path);
    },
    take: (path) => arrived.delete(path),
  };
}
