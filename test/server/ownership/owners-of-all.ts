import type { ServerDeps } from "../../../server/product/deps.ts";

/** Owners for whom each object at the given origins is its caller's team's, for tests of other promises. */
export function ownersOfAll(origins: readonly string[]): ServerDeps["owners"] {
  return {
    findOrigins: async (_teamId, digests) =>
      new Map(digests.map((digest) => [digest, origins.map((origin) => `${origin}/v1`)])),
    record: async () => [],
    end: async () => {},
    charge: async (_teamId, _object, onFirst) => onFirst(),
    isCharged: async () => false,
  };
}
