import { authorize } from "../../domain/access/authorize.ts";
import { GATEWAY_OPERATIONS, isServedOperation } from "../../domain/access/gateway-operations.ts";
import { type GatewayRecord, type KeyRecord, UNSTORED_VERSION } from "../../domain/access/key-record.ts";
import { OPERATIONS, type OperationName } from "../../domain/access/operations.ts";
import type { Client } from "../../domain/access/source-addresses.ts";
import { keyDigest, keyShape } from "../../domain/key/secret/key-format.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { OpenStreams } from "../calls/calls.ts";
import type { ServerConfig } from "../context/config.ts";
import type { KeyIndexView } from "../key-index/key-index-view.ts";
import { chargeRates, type MetRate, type RateDeps } from "./charge-rate.ts";
import { type Carrier, extractCredential } from "./credential.ts";
import type { AuthMetrics } from "./metrics.ts";
import {
  forbidden,
  foreignSource,
  noSuchOperation,
  notAMember,
  type Refused,
  rateLimited,
  STALE,
  tooManyCalls,
  type UsedOperation,
  unauthorized,
} from "./refused.ts";

/** Access that the matched route requires of a key. */
export type RouteAccess = UsedOperation & {
  /** Public id that the router matched, on a gateway's route. */
  readonly publicId: string | undefined;
};

/** A request that may go on, with its key and its operation. */
export type Granted = {
  readonly granted: true;
  readonly key: KeyRecord;
  /** The gateway that the path names; null outside of the gateway. */
  readonly gateway: GatewayRecord | null;
  readonly operation: OperationName;
  readonly carrier: Carrier;
  /** Client that made it. */
  readonly client: Client;
  /** Rate limits that it was charged to, and what is left of them. */
  readonly rates: readonly MetRate[];
};

/** Parts that a decision reads. */
export type DecisionDeps = RateDeps & {
  readonly index: KeyIndexView;
  readonly clock: Clock;
  readonly metrics: Pick<AuthMetrics, "countLookUp">;
  readonly streams: Pick<OpenStreams, "fullOf">;
  readonly config: Pick<ServerConfig, "vendorHeader" | "production" | "placeholders">;
};

/**
 * Decides a request from its head alone (spec §2.8): a current index, then the credential's carrier, its shape, its
 * digest, its record, what the record may do, and last its rate limit and its team's, which a refusal does not charge.
 * Logs nothing. Waits for nothing and does not ask the database, but now and then for a limit of the installation.
 *
 * @param rawHeaders names and values in turn, as Node's parser gives them
 * @param url the request's target as it was sent: only its query is read here
 * @param client client that makes it
 */
export function decide(
  deps: DecisionDeps,
  rawHeaders: readonly string[],
  url: string,
  route: RouteAccess,
  client: Client,
): Granted | Refused | Promise<Granted | Refused> {
  const decided = decideUnlimited(deps, rawHeaders, url, route, client);
  if (!decided.granted) return decided;
  const full = deps.streams.fullOf(decided.key);
  return full === undefined ? chargeGranted(deps, decided) : tooManyCalls(decided.key, full);
}

/** Decides a request as {@link decide} does, up to the limits of its key, which {@link chargeGranted} charges. */
export function decideUnlimited(
  deps: Omit<DecisionDeps, "streams">,
  rawHeaders: readonly string[],
  url: string,
  route: RouteAccess,
  client: Client,
): Granted | Refused {
  const { index } = deps;
  if (!index.isCurrent()) return STALE;
  const presented = extractCredential(rawHeaders, url, deps.config.vendorHeader);
  if ("bad" in presented) return unauthorized(presented.bad);
  const key = findPresented(deps, presented.key);
  if (key === "malformed") return unauthorized("malformed");
  const judged = decideForKey(deps, key, route, client);
  if ("granted" in judged) return judged;
  const { gateway, operation } = judged;
  return { granted: true, key: judged.key, gateway, operation, carrier: presented.carrier, client, rates: [] };
}

/**
 * Finds the record of a text that is presented as a key.
 *
 * @returns `malformed` for what can be no key, which is not looked up; undefined for a key that is not known
 */
export function findPresented(
  deps: Pick<DecisionDeps, "index" | "metrics" | "config">,
  presented: string,
): KeyRecord | "malformed" | undefined {
  const { index } = deps;
  const shape = keyShape(presented);
  if (shape === "malformed") return "malformed";
  if (shape === "imported-format" && !index.acceptsImportedFormat()) return "malformed";
  if (shape === "short" && !hasPlaceholders(deps)) return "malformed";
  deps.metrics.countLookUp();
  const found = index.findKey(keyDigest(presented));
  // A hash does not show how long its secret is: one that was imported by it may be short enough to guess.
  return shape === "short" && found?.version !== UNSTORED_VERSION ? undefined : found;
}

/** Charges a request that may go on to the limits of its key and its team: the last step of a decision. */
export function chargeGranted(
  deps: RateDeps & Parameters<typeof decideAgain>[0],
  granted: Granted,
): Granted | Refused | Promise<Granted | Refused> {
  const rates = chargeRates(deps, granted.key);
  if (!(rates instanceof Promise)) return rates.length === 0 ? granted : withRates(granted, rates);
  // The key may have been revoked while the database was asked.
  return rates.then((waited) => {
    const present = withRates(granted, waited);
    return present.granted ? decideAgain(deps, present) : present;
  });
}

function withRates(granted: Granted, rates: readonly MetRate[]): Granted | Refused {
  return rateLimited(granted.key, rates) ?? { ...granted, rates };
}

/**
 * Decides a request again, right before it takes effect, after whatever was waited for: by what its key's version, the
 * gateway and the index are now. The rate limit was charged on arrival, and is not charged again.
 *
 * @param granted returned as it is if neither the key nor the gateway has changed
 * @param operation what is about to be done, if only the body says it
 */
export function decideAgain(
  deps: Pick<DecisionDeps, "index" | "clock">,
  granted: Granted,
  operation: OperationName = granted.operation,
): Granted | Refused {
  const { index } = deps;
  if (!index.isCurrent()) return STALE;
  const { product } = OPERATIONS[operation];
  const present = index.findPresent(granted.key);
  const { membership } = granted.key;
  if (present === undefined && membership !== undefined) return notAMember(membership.token);
  const route = { product, operation, publicId: granted.gateway?.publicId };
  const judged = decideForKey(deps, present, route, granted.client);
  if ("granted" in judged) return judged;
  const { key, gateway } = judged;
  return key === granted.key && gateway === granted.gateway ? granted : { ...granted, key, gateway };
}

/**
 * Decides what a key may do to the memory by its record in the database.
 *
 * @param now milliseconds since the epoch, by the database
 * @param client client that asked for it
 * @returns undefined if the key may do it
 */
export function decideStored(
  key: KeyRecord | undefined,
  operation: OperationName,
  now: number,
  client: Client,
): Refused | undefined {
  const asked = { product: "memory", operation } as const;
  const denial = authorize(key, asked, now, client);
  return denial && refused(denial, key, asked);
}

type Judged = Pick<Granted, "key" | "gateway" | "operation">;

/**
 * Decides by a key's record, and by the gateway that the path names, as they are at this moment. All decisions share
 * this.
 *
 * @param client null for the server itself
 */
export function decideForKey(
  { index, clock }: { readonly index: KeyIndexView; readonly clock: Pick<Clock, "now"> },
  key: KeyRecord | undefined,
  route: RouteAccess,
  client: Client | null,
): Judged | Refused {
  const gateway = route.publicId === undefined ? undefined : servingGateway(index, route.publicId);
  const { product } = route;
  const operation = gateway === undefined ? route.operation : servedBy(gateway, route.operation);
  const denial = authorize(key, { product, operation, gateway }, clock.now(), client);
  if (denial !== undefined) return refused(denial, key, { product, operation });
  if (key === undefined || operation === undefined) return unauthorized("unknown");
  return { key, gateway: gateway ?? null, operation };
}

/** Returns the operation; undefined if it is of a kind that the gateway does not serve, as an unknown path is. */
export function servedBy(
  { operations }: GatewayRecord,
  operation: OperationName | undefined,
): OperationName | undefined {
  if (operation === undefined || !isServedOperation(operation)) return operation;
  return operations.includes(GATEWAY_OPERATIONS[operation].kind) ? operation : undefined;
}

function hasPlaceholders({ config: { production, placeholders } }: Pick<DecisionDeps, "config">): boolean {
  return !production && placeholders.length > 0;
}

/**
 * Finds a gateway. A gateway whose namespace its team has lost is not found: to every caller it is as if it did not
 * exist.
 */
function servingGateway(index: KeyIndexView, publicId: string): GatewayRecord | undefined {
  const gateway = index.findGateway(publicId);
  return gateway?.teamHoldsNamespace ? gateway : undefined;
}

function refused(
  denial: NonNullable<ReturnType<typeof authorize>>,
  key: KeyRecord | undefined,
  asked: UsedOperation,
): Refused {
  switch (denial.code) {
    case "unauthorized":
      return unauthorized(denial.cause, key);
    case "address_not_allowed":
      return foreignSource(key, denial.by);
    case "forbidden":
      return forbidden(denial.reason, key, { kind: "access", asked });
    case "not_found":
      return noSuchOperation(key);
  }
}
