import { UsageError } from "../command/usage-error.ts";
import { findOne, wantedOf } from "../source/find-one.ts";
import type { ListedObject, Source } from "../source/source.ts";

/**
 * Finds the gateway of a key: the gateway that it is bound to, that was named, or the only one of its team.
 *
 * @returns undefined for a key that may use no gateway
 * @throws UsageError if several are possible, or another is named than the key is bound to
 * @throws Error if the team has none
 */
export async function findGateway(
  source: Source,
  { metadata, spec, status }: ListedObject<"PlatformKey">,
  named: string | undefined,
): Promise<ListedObject<"ModelGateway"> | undefined> {
  const title = `key ${metadata.namespace}/${metadata.name}`;
  if (!status?.effectiveScopes?.some((scope) => scope.startsWith("gateway:"))) {
    if (named !== undefined) throw new UsageError(`--gateway: ${title} may use no gateway`);
    return undefined;
  }
  const bound = spec?.gatewayRef;
  if (bound !== undefined) {
    if (named !== undefined) throw new UsageError(`--gateway: ${title} is bound to gateway ${bound.name}`);
    return findOne(source, "ModelGateway", { namespace: bound.namespace ?? metadata.namespace, name: bound.name });
  }
  if (named !== undefined) return findOne(source, "ModelGateway", wantedOf(named, undefined));
  const ofTeam = (await source.list("ModelGateway", {})).filter((gateway) => gateway.status?.team === status.team);
  const [one, another] = ofTeam;
  if (one === undefined) throw new Error(`team ${status.team} has no gateway for ${title}: see keyplane get gateways`);
  if (another === undefined) return one;
  const names = ofTeam.map((gateway) => `${gateway.metadata.namespace}/${gateway.metadata.name}`).join(", ");
  throw new UsageError(`${title} may use several gateways: say which with --gateway: ${names}`);
}
