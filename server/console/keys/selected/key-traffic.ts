import { DAY_MS } from "../../../../domain/duration.ts";
import { isInUse, type LiveTraffic } from "../../../../domain/key/stored/live-traffic.ts";
import type { Db } from "../../../../store/database/change.ts";
import { sumRequests } from "../../../../store/keys/uses/request-counts.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";

/**
 * Reads the known traffic that ends with keys, by their ids. Keys in use come first, the most used before the others.
 *
 * @param now milliseconds since the epoch
 */
export async function readTraffic(
  db: Db,
  keys: readonly KeyJson[],
  now: number,
): Promise<ReadonlyMap<string, LiveTraffic>> {
  const ids = keys.map(({ id }) => id);
  const requests = await sumRequests(db, ids, now - DAY_MS);
  const known = keys.map(({ id, lastUsedAt, lastNetworks: callers }): [string, LiveTraffic] => [
    id,
    { lastUsedAt: lastUsedAt === null ? null : Date.parse(lastUsedAt), callers, lastDay: requests.get(id) },
  ]);
  const rank = ([, one]: [string, LiveTraffic]) => [
    isInUse(one, now) ? 1 : 0,
    one.lastDay?.requests ?? 0,
    one.lastUsedAt ?? 0,
  ];
  return new Map(known.toSorted((a, b) => compare(rank(b), rank(a))));
}

function compare(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((figure, i) => figure !== b[i]);
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
