import type { Random } from "../env/random.ts";
import type { KeySpec, Overlap } from "../oracle/model.ts";

/** What each namespace has for its keys to refer to, and what it does not have. */
export const LIBRARY = "handbook";
export const GATEWAY = "main";
export const DEPLOYMENT = "workload";
const MISSING = "nowhere";

const SCOPES = ["gateway:generate", "gateway:embed", "gateway:routes", "memory:read", "memory:write"] as const;

export function randomOverlap(random: Random): Overlap {
  if (random.chance(0.7)) return { mode: "Fixed", duration: `${random.pick([0, 1, 3, 8, 15])}s` };
  const min = random.between(0, 4);
  return {
    mode: "Adoption",
    min: `${min}s`,
    max: `${min + random.between(2, 15)}s`,
    quiet: `${random.between(1, 5)}s`,
  };
}

/** What a key may do; without a memory scope in a fifth of the cases. */
export function randomRights(random: Random): Pick<KeySpec, "preset" | "scopes"> {
  if (random.chance(0.6)) return { preset: random.pick(["MCPReadOnly", "MCPReadWrite", "GatewayDefault"]) };
  const scopes: string[] = SCOPES.filter(() => random.chance(0.4));
  return { scopes: scopes.length === 0 ? ["memory:read"] : scopes };
}

export function hasMemoryScope({ preset, scopes }: Pick<KeySpec, "preset" | "scopes">): boolean {
  return preset !== undefined || scopes?.some((scope) => scope.startsWith("memory:")) === true;
}

/** A spec with a few of everything that a declaration can say. */
export function randomSpec(random: Random): KeySpec {
  const rights = randomRights(random);
  const sometimes = <T>(part: number, given: T): T | Record<never, never> => (random.chance(part) ? given : {});
  const overlap = sometimes(0.85, { overlap: randomOverlap(random) });
  // A quarter of an overlap at least, and of the default one that is hours.
  const interval = "overlap" in overlap ? sometimes(0.14, { interval: `${random.between(6, 20)}s` }) : {};
  return {
    ...rights,
    ...sometimes(0.04, { state: "Suspended" as const }),
    ...sometimes(0.15, { gatewayRef: { name: random.chance(0.85) ? GATEWAY : MISSING } }),
    ...(hasMemoryScope(rights) && random.chance(0.2)
      ? { libraryAccess: { mode: "Restricted", libraryRefs: [{ name: random.chance(0.85) ? LIBRARY : MISSING }] } }
      : {}),
    ...sometimes(0.12, { expiresAfter: random.pick(["9s", "25s", "30m", "24h", "48h"]) }),
    ...sometimes(0.04, { rateLimit: { requestsPerMinute: 600_000 } }),
    ...sometimes(0.08, { restartTargets: [{ kind: "Deployment", name: random.chance(0.8) ? DEPLOYMENT : MISSING }] }),
    ...sometimes(0.08, { deletionPolicy: "Retain" as const }),
    ...sometimes(0.06, { deletionProtection: true }),
    rotation: { trigger: "0", ...interval, ...overlap },
    secret: {
      ...sometimes(0.1, { creationPolicy: "Orphan" as const }),
      ...sometimes(0.08, { onLost: "Report" as const }),
      ...sometimes(0.08, { onTampered: "Report" as const }),
      ...sometimes(0.2, { template: random.pick(["Env", "McpConfig", "ServiceBinding"]) }),
      ...sometimes(0.1, { dataKey: "token" }),
    },
  };
}
