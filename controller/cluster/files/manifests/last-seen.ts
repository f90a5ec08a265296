/** Locations where everything is declared, by a reading of the folder. Pure. */
import { devicesOf, type Origin } from "./absence.ts";
import type { Declarations } from "./declarations.ts";
import type { FolderReading, ParsedFile } from "./folder.ts";
import type { LastSeen } from "./origins.ts";

/**
 * Returns where each object is declared now; for an object that cannot be seen, where it was.
 *
 * @param keys of all objects that there are, by kind, namespace and name
 * @param before returns where an object was seen last
 */
export function lastSeenIn(
  keys: readonly string[],
  before: (key: string) => LastSeen | undefined,
  { locations }: Pick<Declarations, "locations">,
  reading: FolderReading,
): Map<string, LastSeen> {
  const origin = originsIn(reading);
  const sightings = new Map<string, LastSeen>();
  for (const key of keys) {
    const [location, last] = [locations.get(key), before(key)];
    if (location !== undefined) sightings.set(key, { origin: origin.of(location.file), rivals: location.rivals });
    else if (last !== undefined) sightings.set(key, { ...last, origin: origin.markCutShort(last.origin) });
  }
  return sightings;
}

/** Makes the origins of what is declared in a folder, one for each file. */
function originsIn({ root, foundEntries, files }: FolderReading) {
  const made = new Map<ParsedFile, Origin>();
  const byName = new Map(files.map((file) => [file.name, file]));
  return {
    of(file: ParsedFile): Origin {
      const { name, inode, ending } = file;
      const origin = made.get(file) ?? {
        ...{ file: name, root, inode, ending, cutShort: null },
        devices: devicesOf(name, foundEntries),
      };
      made.set(file, origin);
      return origin;
    },
    /** Updates the origin of an object that is no longer in its file. */
    markCutShort(origin: Origin): Origin {
      const file = byName.get(origin.file);
      return file?.isCutShort ? { ...origin, cutShort: file.identity } : origin;
    },
  };
}
