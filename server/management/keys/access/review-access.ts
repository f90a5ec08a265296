import { permits } from "../../../../domain/access/authorize.ts";
import { GATEWAY_OPERATIONS, isServedOperation } from "../../../../domain/access/gateway-operations.ts";
import type { GatewayRecord, KeyRecord } from "../../../../domain/access/key-record.ts";
import type { RefusalCause } from "../../../../domain/access/key-state.ts";
import { OPERATIONS, type OperationName } from "../../../../domain/access/operations.ts";
import { SCOPES, type Scope } from "../../../../domain/access/scopes.ts";
import type { Db } from "../../../../store/database/change.ts";
import { decideForKey, servedBy } from "../../../auth/decide.ts";
import { resolve } from "../../../gateway/resolve.ts";
import { unservedKind } from "../../../gateway/unserved-path.ts";
import { Problem, problem } from "../../../http/problems/problem.ts";
import { findNamedLibrary, noSuchLibrary } from "../../../libraries/libraries.ts";
import { NAME } from "../../request-schemas.ts";
import { closedObject, TEXT } from "../../response-schemas.ts";

/** Question whether a key may use a scope, and on which object. */
export type AccessQuestion = {
  readonly scope: Scope;
  /** Name of a library, as the key would give it. */
  readonly library?: string;
  /** Public id of a gateway. */
  readonly gateway?: string;
  /** Model, as a request to the gateway names it. */
  readonly model?: string;
};

export const ACCESS_QUESTION = {
  type: "object",
  additionalProperties: false,
  required: ["scope"],
  properties: {
    scope: { type: "string", enum: SCOPES },
    library: { ...NAME, description: "With a memory scope: as the key would name it." },
    gateway: { ...NAME, description: "Its public id: needed with a gateway scope." },
    model: { ...NAME, description: "With a gateway: the model or the logical route." },
  },
} as const;

/** Answer whether a key may do something, and why. */
export type Access = { readonly allowed: boolean; readonly reason: string };

export const ACCESS = closedObject("Access", {
  allowed: { type: "boolean" },
  reason: { ...TEXT, description: "Why, for people." },
});

/**
 * Says whether a key may do something now, by the code that decides requests. Does not check its rate limit, its
 * networks, or whether an upstream answers.
 *
 * @throws Problem `invalid_request` for fields that belong to another product than the scope
 */
export async function reviewAccess(
  deps: Parameters<typeof decideForKey>[0],
  db: Db,
  key: KeyRecord | undefined,
  question: AccessQuestion,
): Promise<Access> {
  const { scope, library, model, gateway: publicId } = question;
  const operations = OPERATIONS_OF[scope];
  const [usual] = operations;
  const { product } = OPERATIONS[usual];
  assertFits(product, question);
  const gateway = publicId === undefined ? undefined : deps.index.findGateway(publicId);
  const operation = gateway && operations.find((one) => servedBy(gateway, one) !== undefined);
  const judged = decideForKey(deps, key, { product, operation: operation ?? usual, publicId }, null);
  if ("granted" in judged) {
    if (judged.code === "not_found" && gateway && isServedOperation(usual)) {
      return no(unservedKind(gateway, GATEWAY_OPERATIONS[usual].kind).detail);
    }
    return no(REFUSALS[judged.cause] ?? `the key lacks the scope ${scope}`);
  }
  if (library !== undefined && (await findNamedLibrary(db, judged.key, library)) === undefined) {
    return no(await noSuchLibrary(db, judged.key, library));
  }
  const refusal =
    judged.gateway === null || model === undefined ? undefined : refusalOfModel(judged.gateway, judged.key, model);
  return refusal === undefined ? { allowed: true, reason: `the key has the scope ${scope}` } : no(refusal);
}

/**
 * Returns why the key may not name this model at the gateway in any of the gateway's dialects. undefined if it may in
 * one of them.
 */
function refusalOfModel(gateway: GatewayRecord, key: KeyRecord, model: string): string | undefined {
  const resolving = { allowedModels: key.allowedModels, mayResolveRoutes: permits(key, "gateway.resolve_route") };
  const dialects = new Set(gateway.upstreams.map(({ dialect }) => dialect));
  const resolved = [...dialects].map((dialect) => resolve(gateway, resolving, dialect, model));
  const [refused = "the gateway has no upstream"] = resolved.flatMap((one) =>
    one instanceof Problem ? one.detail : [],
  );
  return resolved.some((one) => !(one instanceof Problem)) ? undefined : refused;
}

const no = (reason: string): Access => ({ allowed: false, reason });

/**
 * Operations that need a single scope, by their scope, the usual one first. Those that a gateway serves are decided
 * alike.
 */
const OPERATIONS_OF = Object.fromEntries(
  SCOPES.map((wanted) => [
    wanted,
    (Object.keys(OPERATIONS) as OperationName[]).filter(
      (name) => OPERATIONS[name].scope === wanted && OPERATIONS[name].product !== "key",
    ),
  ]),
) as unknown as Record<Scope, readonly [OperationName, ...OperationName[]]>;

/** Texts for the causes of a decision. A missing scope has none, which the answer names itself. */
const REFUSALS: Readonly<Record<string, string>> = {
  unknown: "the key has no version that works",
  revoked: "the key is revoked",
  expired: "the key has expired",
  suspended: "the key is suspended, or its team no longer holds its namespace",
  wrong_team: "the key's team has no gateway of this public id",
  bound_to_another_gateway: "the key is bound to another gateway",
} satisfies Record<RefusalCause | "bound_to_another_gateway", string>;

function assertFits(product: string, { library, gateway, model }: AccessQuestion): void {
  if (product === "gateway" && gateway === undefined)
    throw problem("invalid_request", "A gateway scope needs gateway.");
  if (product === "gateway" && library !== undefined) throw problem("invalid_request", "library is for memory scopes.");
  if (product === "memory" && (gateway !== undefined || model !== undefined)) {
    throw problem("invalid_request", "gateway and model are for gateway scopes.");
  }
}
