/**
 * Record of the files that came whole to their paths, by the kernel's notifications. For a file that is created at its
 * path and written, the kernel notifies of both; for a file that is renamed to its path, only of a new name.
 */
import type { WatchEventType } from "node:fs";
import { isManifestPath } from "./find-files.ts";

export type Arrivals = {
  note(path: string, event: WatchEventType): void;
  /** True if a file came to the path and was not written there, since the last call for this path. */
  take(path: string): boolean;
};

/**
 * Makes an empty record. It stays empty on systems other than Linux, where one notification may stand for a creation
 * and a write.
 */
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
