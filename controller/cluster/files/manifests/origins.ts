/**
 * DATA/origins.json: where each object is declared, as of when it was last seen there. It shows, after a restart too,
 * whether a declaration was taken away or only cannot be seen, and which of two declarations counts.
 */
import { join } from "node:path";
import { isRecord } from "../../../../domain/manifest/document/identity.ts";
import type { SecretName } from "../../secret-names.ts";
import { readJson, replaceFile } from "../disk.ts";
import type { Origin } from "./absence.ts";
import type { Rival } from "./governing.ts";

/** Location where an object was seen last, and the declarations of it elsewhere that had no effect. */
export type LastSeen = { readonly origin: Origin; readonly rivals: readonly Rival[] };

/** Returns the key of a Secret among the origins. */
export const secretKey = ({ namespace, name }: SecretName): string => `Secret/${namespace}/${name}`;

export type Origins = {
  /** Returns where an object was seen last, by kind, namespace and name. */
  get(key: string): LastSeen | undefined;
  /** Returns the Secrets among the objects. */
  secrets(): SecretName[];
  /** Forgets an object, as if it had never been declared. */
  forget(key: string): void;
  /** Keeps these objects and no others, and syncs them to the disk. */
  keep(sightings: ReadonlyMap<string, LastSeen>): Promise<void>;
};

/** Entry of the file: each origin once, with the keys of the objects that are declared there and their rivals. */
type Group = Origin & { readonly objects: Readonly<Record<string, readonly Rival[]>> };

/** @throws Error if the file does not hold what was written there */
export async function openOrigins(data: string): Promise<Origins> {
  const path = join(data, "origins.json");
  const stored = (await readJson(path)) ?? [];
  if (!isGroups(stored)) throw new Error(`${path} does not hold what keyplane wrote there: put it back, or delete it`);
  let sightings = new Map(stored.flatMap(sightingsOf));
  let saved = JSON.stringify(stored);

  return {
    get: (key) => sightings.get(key),
    secrets() {
      const keys = [...sightings.keys()].map((key) => key.split("/"));
      return keys.flatMap(([kind, namespace = "", name = ""]) => (kind === "Secret" ? [{ namespace, name }] : []));
    },
    forget(key) {
      sightings.delete(key);
    },
    async keep(next) {
      sightings = new Map(next);
      const text = JSON.stringify(groupsOf(sightings));
      if (text === saved) return;
      await replaceFile(path, text);
      saved = text;
    },
  };
}

function isGroups(stored: unknown): stored is Group[] {
  return Array.isArray(stored) && stored.every((group) => isRecord(group) && isRecord(group.objects));
}

function sightingsOf({ objects, ...origin }: Group): [string, LastSeen][] {
  return Object.entries(objects).map(([key, rivals]) => [key, { origin, rivals }]);
}

function groupsOf(sightings: ReadonlyMap<string, LastSeen>): Group[] {
  const inOrder = [...sightings].sort(([a], [b]) => (a < b ? -1 : 1));
  const byOrigin = Map.groupBy(inOrder, ([, { origin }]) => JSON.stringify(origin));
  return [...byOrigin.values()].flatMap((all) => {
    const origin = all[0]?.[1].origin;
    return origin === undefined
      ? []
      : [{ ...origin, objects: Object.fromEntries(all.map(([key, one]) => [key, one.rivals])) }];
  });
}
