/** Maximum length of a cluster's name, in characters. */
export const MAX_CLUSTER_NAME = 63;

/** Characters that no name may have: control characters, line breaks and unpaired surrogates. */
const UNREADABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Parses the name of a cluster, without the spaces around it; undefined if it is not a valid name. */
export function parseClusterName(text: string): string | undefined {
  const name = text.trim();
  return name === "" || [...name].length > MAX_CLUSTER_NAME || UNREADABLE.test(name) ? undefined : name;
}

/** Returns the name of a cluster by its folder's name, truncated to fit; undefined if nothing readable is in it. */
export function clusterNameOfFolder(folder: string): string | undefined {
  const readable = [...folder].filter((character) => !UNREADABLE.test(character));
  return parseClusterName(readable.slice(0, MAX_CLUSTER_NAME).join(""));
}
