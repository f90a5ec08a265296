/** Rights and limits of keys that the verifier cannot hold for a proxy: it asks once, and the verifier sees no answer. */
import {
  GATEWAY_OPERATIONS,
  isForwarded,
  type KeptKind,
  type KeptObjects,
  SERVED_OPERATIONS,
  type ServedOperation,
} from "../../domain/access/gateway-operations.ts";
import type { GatewayRecord, KeyRecord, OperationKind } from "../../domain/access/key-record.ts";
import type { Scope } from "../../domain/access/scopes.ts";
import { hasBudget } from "../../domain/budget/budget.ts";
import { countsTokens } from "../auth/charge-rate.ts";
import type { GatewayCall } from "../gateway/classify.ts";
import { needsModel } from "../gateway/resolve.ts";

const METERED =
  "Call through Keyplane's own server, or have the proxy ask at a path with /unmetered/, where this limit does not count.";

/**
 * Returns the reason why a key's limits cannot be held; undefined if they can.
 *
 * @param isModelCall true if tokens and budgets count
 */
export function unheldLimit(key: KeyRecord, isModelCall: boolean): string | undefined {
  if (key.concurrent !== null || (key.teamLimits !== null && key.teamLimits.concurrent !== null)) {
    return `This key, or its team, has a limit of concurrent calls, and the verifier sees no call end. ${METERED}`;
  }
  if (!isModelCall) return undefined;
  if (countsTokens(key)) {
    return `This key, or its team, has a limit of tokens, and the verifier sees no answer. ${METERED}`;
  }
  return hasBudget(key)
    ? `This key, or its team, has a budget, and the verifier sees no answer. ${METERED}`
    : undefined;
}

/** Returns the reason why a key may do less than its scopes say; undefined if a scope says all. */
export function narrowerThan(scopes: readonly Scope[], key: KeyRecord): string | undefined {
  const { boundGatewayId, allowedModels, libraryIds, subject } = key;
  const isOf = (product: string) => scopes.some((scope) => scope.startsWith(product));
  const narrower = (by: string) =>
    `This key is restricted to ${by}, which a scope alone does not say. Use a key without that restriction.`;
  if (isOf("gateway:") && boundGatewayId !== null) return narrower("one gateway");
  if (isOf("gateway:") && allowedModels !== null) return narrower("some models");
  if (isOf("memory:") && libraryIds !== null) return narrower("some libraries");
  return isOf("memory:") && subject !== null ? narrower("the memory of some subjects") : undefined;
}

const OWN_GATEWAY = "Call it through Keyplane's own gateway.";

/** Kinds of operations whose calls leave an object with an upstream, with the kind of the object in other calls' bodies. */
const LEFT = Object.values(GATEWAY_OPERATIONS).flatMap(({ kind, kept }) =>
  [kept?.brought?.kind, ...Object.values(kept?.yields ?? {})].map((object) => {
    // What a batch has made is a file to its provider.
    return { kind, object: object === "output" ? "file" : object };
  }),
);
/** Kinds of operations that leave what an operation's bodies may name, for each that has to do with nothing else stored. */
const NAMED_KINDS: ReadonlyMap<ServedOperation, ReadonlySet<OperationKind>> = new Map(
  SERVED_OPERATIONS.flatMap((operation) => {
    const { mentioned, ...others }: KeptObjects = GATEWAY_OPERATIONS[operation].kept ?? {};
    if (mentioned === undefined || Object.keys(others).length > 0) return [];
    const named = new Set<KeptKind | undefined>(Object.values(mentioned.members));
    return [[operation, new Set(LEFT.filter(({ object }) => named.has(object)).map(({ kind }) => kind))]];
  }),
);

/** True if a call makes, and can name, nothing that the upstreams of its gateway keep. */
function touchesNothingKept(operation: ServedOperation, { operations }: GatewayRecord): boolean {
  const named = NAMED_KINDS.get(operation);
  return named !== undefined && !operations.some((kind) => named.has(kind));
}

/** Returns the reason why a gateway's call cannot be decided for a proxy; undefined if it can. */
export function unheldCall(
  { operation, model }: GatewayCall,
  gateway: GatewayRecord,
  key: KeyRecord,
): string | undefined {
  const row = GATEWAY_OPERATIONS[operation];
  if (row.kept !== undefined && !touchesNothingKept(operation, gateway)) {
    return `The upstream stores what this call makes or names, and the verifier sees no answer that says whose it is. ${OWN_GATEWAY}`;
  }
  if (!isForwarded(row)) {
    // The gateway answers such a call itself. Behind a proxy the provider does, to which a slash begins another path.
    if (model?.includes("/")) return `A model whose id has a slash is another path to the provider. ${OWN_GATEWAY}`;
    return needsModel(gateway, key.allowedModels)
      ? `This list is made by Keyplane's own gateway, of what the key may name. ${OWN_GATEWAY}`
      : undefined;
  }
  return gateway.routesOnly
    ? `This gateway serves its logical routes alone, and a proxy does not write the upstream's model in their place. ${OWN_GATEWAY}`
    : undefined;
}
