import type { KeyRecord } from "../../domain/access/key-record.ts";
import { defaultLibraryOf } from "../../domain/access/library-access.ts";
import type { Reach } from "../../domain/access/reach.ts";
import type { Db } from "../../store/database/change.ts";
import {
  findLibraryById,
  findLibraryByName,
  listLibraries,
  type ReachableLibrary,
} from "../../store/libraries/reachable-libraries.ts";
import { listed, MAX_LISTED } from "../http/listed.ts";

/**
 * Returns the libraries of its team's memory that a key may reach, as a reach that includes what all subjects share.
 */
export function librariesOf(key: KeyRecord): Reach {
  return { teamId: key.teamId, libraryIds: key.libraryIds };
}

/**
 * Finds the library that a caller names: `name` in the key's own namespace, `namespace/name` in another of its team.
 * undefined if it does not exist and, alike, if the key may not reach it (spec §2.5).
 */
export async function findNamedLibrary(db: Db, key: KeyRecord, named: string): Promise<ReachableLibrary | undefined> {
  const slash = named.indexOf("/");
  const namespace = slash < 0 ? key.namespace : named.slice(0, slash);
  return findLibraryByName(db, librariesOf(key), namespace, named.slice(slash + 1));
}

/** Finds the library that is meant if none is named: the key's default, else the team's (spec §2.6). */
export async function findDefaultLibrary(db: Db, key: KeyRecord): Promise<ReachableLibrary | undefined> {
  const id = defaultLibraryOf(key);
  return id === undefined ? undefined : findLibraryById(db, librariesOf(key), id);
}

/** Finds the library that a call means: the named library, else the default. undefined as in both. */
export async function findRequestedLibrary(
  db: Db,
  key: KeyRecord,
  named: string | undefined,
): Promise<ReachableLibrary | undefined> {
  return named === undefined ? findDefaultLibrary(db, key) : findNamedLibrary(db, key, named);
}

/** Name by which a call that reads means all libraries: no library has this name. */
export const ALL_LIBRARIES = "*";

/**
 * Finds the library that a call over MCP reads. null means all that the key may reach: for {@link ALL_LIBRARIES}, and
 * if none is named and there is no default. undefined as in {@link findRequestedLibrary}.
 */
export async function findLibraryToRead(
  db: Db,
  key: KeyRecord,
  named: string | undefined,
): Promise<ReachableLibrary | null | undefined> {
  if (named !== undefined && named !== ALL_LIBRARIES) return findNamedLibrary(db, key, named);
  const only = named === undefined ? await findDefaultLibrary(db, key) : undefined;
  if (only !== undefined) return only;
  const { items } = await listLibraries(db, librariesOf(key), { after: null, limit: 1 });
  return items.length === 0 ? undefined : null;
}

/** Returns a library's name as this key would give it. */
export function libraryName(key: KeyRecord, library: { readonly namespace: string; readonly name: string }): string {
  return library.namespace === key.namespace ? library.name : `${library.namespace}/${library.name}`;
}

/**
 * Returns the message for a caller if no library has the name that it sent, or if it sent none and there is no default.
 * Lists the libraries that its key may reach. Repeats only a name that could be a library's.
 */
export async function noSuchLibrary(db: Db, key: KeyRecord, named: string | undefined): Promise<string> {
  const { items } = await listLibraries(db, librariesOf(key), { after: null, limit: MAX_LISTED + 1 });
  const names = items.map((library) => libraryName(key, library)).sort();
  const reached = names.length === 0 ? "This key may reach none." : `This key may reach: ${listed(names)}.`;
  if (named === undefined) return `${NO_DEFAULT_LIBRARY} ${reached}`;
  if (named === ALL_LIBRARIES) return `${NOT_ALL_LIBRARIES} ${reached}`;
  const shown = /^[a-z0-9./-]{1,320}$/.test(named) ? ` "${named}"` : " of that name";
  return `There is no library${shown} for this key. ${NAMES} ${reached}`;
}

const NAMES =
  "Name a MemoryLibrary of the key's namespace by its name, one of another namespace of the team as namespace/name.";

const NOT_ALL_LIBRARIES = `Only a tool of MCP that reads means all libraries by "${ALL_LIBRARIES}": over REST, leave "library" out to read all of them, and name one library to write.`;

const NO_DEFAULT_LIBRARY =
  'No library is named, and neither this key nor its team has a default one that the key may reach: pass "library", or set mcpDefaultLibraryRef on the PlatformKey or mcpAgentPolicy.defaultLibraryRef on the PlatformTeam.';
