/** Who has called with a key of late, and is refused by other networks (docs/decisions/caller-networks.md). */
import {
  areNarrower,
  type CallerNetwork,
  narrowedCallers,
  type SourceLists,
} from "../../domain/access/caller-network.ts";
import type { ManifestWorld, WorldObject } from "../../domain/manifest/set/manifest-world.ts";
import type { ForecastInput } from "./key-forecast.ts";

/**
 * From where a key was called, by its id: `unknown` where no server was asked that knows it, undefined where there is
 * none to ask.
 */
export type CallersLookup = (keyId: string) => readonly CallerNetwork[] | "unknown" | undefined;

/** Whom the key's networks and its team's would refuse, where they let in less than before. */
export function refusedCallers(title: string, input: ForecastInput, callersOf: CallersLookup): string[] {
  const { declared, object, before, after } = input;
  const keyId = object?.status?.keyID;
  if (declared === undefined || keyId === undefined || declared.spec.state === "Revoked") return [];
  const held = before.find("PlatformKey", declared);
  const [was, is] = [sourcesOf(held, declared.namespace, before), sourcesOf(declared, declared.namespace, after)];
  const callers = callersOf(keyId);
  if (callers === undefined || !areNarrower(was, is)) return [];
  if (callers === "unknown") {
    return [`${title} gets narrower networks, and whom they refuse is known to a running server alone`];
  }
  const { refused, doubtful } = narrowedCallers(callers, was, is);
  return [
    ...refused.map((caller) => `${title} refuses calls from ${callerText(caller)}`),
    ...doubtful.map((caller) => `${title} refuses calls from a part of ${callerText(caller)}`),
  ];
}

/** The lists of a key and of the team that holds its namespace. */
function sourcesOf(key: WorldObject<"PlatformKey"> | undefined, namespace: string, world: ManifestWorld): SourceLists {
  const name = world.teamOf(namespace);
  const team = name === null ? undefined : world.find("PlatformTeam", { namespace: "", name });
  return [key?.spec.allowedCIDRs ?? null, team?.spec.allowedCIDRs ?? null];
}

function callerText({ network, lastSeenOn }: CallerNetwork): string {
  return `${network}, where it was last used on ${lastSeenOn}`;
}
