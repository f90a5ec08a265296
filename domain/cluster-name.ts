/** The most characters of a cluster's name. */
export const MAX_CLUSTER_NAME = 63;

/** A control character, a line break among them, or half of a character: nothing that a name is read by. */
const UNREADABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** The name of a cluster as it was given, without the spaces around it; undefined for what is none. */
export function parseClusterName(text: string): string | undefined {
  const name = text.trim();
  return name === "" || [...name].length > MAX_CLUSTER_NAME || UNREADABLE.test(name) ? undefined : name;
}

/** The name that a cluster has by its folder's: as much of it as fits. Undefined for a folder that has none. */
export function clusterNameOfFolder(folder: string): string | undefined {
  const readable = [...folder].filter((character) => !UNREADABLE.test(character));
  return parseClusterName(readable.slice(0, MAX_CLUSTER_NAME).join(""));
}
