/** Functions `getKey`, `getTeam` and `getGateway`, which read any object, made by this stack or not. */

import { isRecord } from "../../../domain/manifest/document/identity.ts";
import type { FieldDiagnostic } from "../../../domain/manifest/validation/check-spec.ts";
import type { Api } from "./api/api.ts";
import { type ApiObject, fetchObject, parseObject } from "./api/api-object.ts";
import { isRevoked } from "./api/creation.ts";
import { shown } from "./outputs.ts";
import { type Inputs, RESOURCES, type ResourceKind } from "./resources.ts";
import type { Revealed, Value, Values } from "./values.ts";

const RESOURCE_OF: Readonly<Record<string, string>> = {
  "keyplane:index:getKey": "keyplane:index:PlatformKey",
  "keyplane:index:getTeam": "keyplane:index:PlatformTeam",
  "keyplane:index:getGateway": "keyplane:index:ModelGateway",
};

/** Maximum number of pages that a look-up by name reads: the API lists revoked keys too. */
const MAX_PAGES = 1_000;

type LookupResult = { readonly found: Values } | { readonly diagnostics: readonly FieldDiagnostic[] };

/**
 * Calls a function.
 *
 * @throws Refusal, UnreachableError, TokenError, or an Error if there is no such object, or more than one
 */
export async function callFunction(api: Api, token: string, args: Inputs): Promise<LookupResult> {
  const kind = RESOURCES.get(RESOURCE_OF[token] ?? "");
  if (kind === undefined) throw new Error(`${token} is no function of Keyplane's: see that provider and program fit`);
  const wanted = kind.identity.flatMap((property) => (args[property] === undefined ? [] : [property]));
  if (typeof args.id === "string" && wanted.length > 0)
    return diagnostic("id", `is enough: leave out ${wanted.join(", ")}`);
  if (typeof args.id === "string") return { found: resultOf(kind, await byId(api, kind, args.id)) };
  const { name, team, namespace } = args;
  if (typeof name !== "string") return diagnostic("name", "is missing: give the name, or the id");
  return { found: resultOf(kind, await byName(api, kind, { name, team, namespace })) };
}

function diagnostic(path: string, message: string): LookupResult {
  return { diagnostics: [{ path, message }] };
}

async function byId(api: Api, kind: ResourceKind, id: string): Promise<ApiObject> {
  const object = await fetchObject(api, kind, id);
  if (object === undefined) throw new Error(`there is no ${kind.noun} ${id}, or none to be seen with this token`);
  return object;
}

async function byName(
  api: Api,
  kind: ResourceKind,
  { name, team, namespace }: { name: string; team: Revealed | undefined; namespace: Revealed | undefined },
): Promise<ApiObject> {
  const query = new URLSearchParams({ limit: "200", name });
  if (typeof team === "string") query.set("team", team);
  if (typeof namespace === "string" && namespace !== "") query.set("namespace", namespace);
  const found: ApiObject[] = [];
  for (let page = 0; page < MAX_PAGES; page++) {
    const { body, etag } = await api.send("GET", `${kind.path}?${query}`);
    const { items, nextCursor } = isRecord(body) ? body : {};
    const objects = (Array.isArray(items) ? items : []).map((item) =>
      parseObject({ body: item, etag, replayed: false }),
    );
    found.push(...objects.filter((one) => !isRevoked(one) && (namespace === undefined || one.namespace === namespace)));
    if (typeof nextCursor !== "string") break;
    query.set("cursor", nextCursor);
  }
  const [first, ...more] = found;
  if (first === undefined)
    throw new Error(`there is no ${kind.noun} named "${name}", or none to be seen with this token`);
  if (more.length > 0) {
    throw new Error(`there are ${found.length} of the name "${name}": give the team and namespace too, or the id`);
  }
  return first;
}

function resultOf(kind: ResourceKind, object: ApiObject): Values {
  const { id, team, namespace, spec } = object;
  return {
    id,
    ...(team !== undefined && { team }),
    ...(namespace !== "" && { namespace }),
    // What the API answers is JSON.
    ...(spec as Readonly<Record<string, Value>>),
    ...shown(kind, object),
  };
}
