/** Recent callers of a key that changed networks would refuse (docs/decisions/caller-networks.md). */
import {
  areNarrower,
  type CallerNetwork,
  narrowedCallers,
  type SourceLists,
} from "../../domain/access/caller-network.ts";
import type { ManifestWorld, WorldObject } from "../../domain/manifest/set/manifest-world.ts";
import type { ForecastInput } from "./key-forecast.ts";

/**
 * Looks up the networks that a key was called from, by its id: `unknown` if a server may know them but was not asked;
 * undefined if there is no server to ask.
 */
export type CallersLookup = (keyId: string) => readonly CallerNetwork[] | "unknown" | undefined;

/**
 * Returns the callers that the networks of the key and its team would refuse, if these allow fewer addresses than
 * before.
 */
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

/** Returns the address lists of a key and of the team that holds its namespace. */
function sourcesOf(key: WorldObject<"PlatformKey"> | undefined, namespace: string, world: ManifestWorld): SourceLists {
  const name = world.teamOf(namespace);
  const team = name === null ? undefined : world.find("PlatformTeam", { namespace: "", name });
  return [key?.spec.allowedCIDRs ?? null, team?.spec.allowedCIDRs ?? null];
}

function callerText({ network, lastSeenOn }: CallerNetwork): string {
  return `${network}, where it was last used on ${lastSeenOn}`;
}
