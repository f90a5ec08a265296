import type { RouteRecord } from "./key-record.ts";

/** Describes the times that a route declares, for people. */
export function timeoutsText({ firstByteSeconds, idleSeconds }: NonNullable<RouteRecord["timeouts"]>): string {
  return [
    ...(firstByteSeconds === undefined ? [] : [`${firstByteSeconds} s until the answer begins`]),
    ...(idleSeconds === undefined ? [] : [`${idleSeconds} s without a piece of it`]),
  ].join(", ");
}
