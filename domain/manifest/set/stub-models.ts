import type { NamedRef } from "../../key/declaration/declared-key.ts";
import type { ModelGatewaySpec } from "../../kinds/generated/model-gateway.ts";
import type { Path } from "../document/diagnostic.ts";
import { isOfKind, type ManifestWorld, type WorldObject } from "./manifest-world.ts";

/** A name of a model that the stub of `npm start` is asked for, beside an upstream that is another. */
export type StubModel = { readonly path: Path; readonly message: string };

type Upstream = ModelGatewaySpec["upstreams"][number];

/** As this project's manifests and pages name them. The stub itself takes any name. */
const STUB_MODEL = /^stub-/;
/** Its port where none is given, 9100, or one of those that `npm start` names beside it, on whatever host it is. */
const STUB_PORT = /^91\d\d$/;

const ALL: readonly Upstream["dialect"][] = ["openai", "gemini", "anthropic"];
/** What a library calls a model for, and the dialects that know it. */
const CALLS = [
  { field: "embedding", dialects: ["openai", "gemini"] },
  { field: "extraction", dialects: ALL },
] as const;

/**
 * The models of the stub that a gateway's routes, a library or a key bound to a gateway name, where the upstream that is
 * asked for them is not the stub: a provider does not have them.
 */
export function stubModels(object: WorldObject, { find }: Pick<ManifestWorld, "find">): StubModel[] {
  if (isOfKind(object, "ModelGateway")) return ofRoutes(object.spec);
  const gatewayOf = (ref: Pick<NamedRef, "name"> & Partial<NamedRef>) =>
    find("ModelGateway", { namespace: ref.namespace ?? object.namespace, name: ref.name })?.spec;
  if (isOfKind(object, "MemoryLibrary")) {
    return CALLS.flatMap(({ field, dialects }) => {
      const call = object.spec[field];
      if (call === undefined) return [];
      return named(call.model, askedFor(gatewayOf(call.gatewayRef), call.model, dialects), ["spec", field, "model"]);
    });
  }
  if (!isOfKind(object, "PlatformKey") || object.spec.gatewayRef === undefined) return [];
  const gateway = gatewayOf(object.spec.gatewayRef);
  return (object.spec.allowedModels ?? []).flatMap((model, i) =>
    gateway?.upstreams.some(isStub) ? [] : named(model, askedFor(gateway, model, ALL), ["spec", "allowedModels", i]),
  );
}

function ofRoutes({ upstreams, routes }: ModelGatewaySpec): StubModel[] {
  const upstreamOf = (name: string) => upstreams.find((upstream) => upstream.name === name);
  return routes.flatMap(({ upstream, upstreamModel, fallbacks }, i) => [
    ...named(upstreamModel, upstreamOf(upstream), ["spec", "routes", i, "upstreamModel"]),
    ...fallbacks.flatMap((fallback, j) =>
      named(fallback.upstreamModel, upstreamOf(fallback.upstream), [
        "spec",
        "routes",
        i,
        "fallbacks",
        j,
        "upstreamModel",
      ]),
    ),
  ]);
}

/** The upstream that is asked for a model by its own name; undefined where routes alone are served, or one has that name. */
function askedFor(
  gateway: ModelGatewaySpec | undefined,
  model: string,
  dialects: readonly Upstream["dialect"][],
): Upstream | undefined {
  if (gateway === undefined || gateway.routesOnly || gateway.routes.some((route) => route.model === model)) {
    return undefined;
  }
  return gateway.upstreams.find(({ dialect }) => dialects.includes(dialect));
}

function named(model: string, upstream: Upstream | undefined, path: Path): StubModel[] {
  if (!STUB_MODEL.test(model) || upstream === undefined || isStub(upstream)) return [];
  const message = `${model} is a name for the model stub, and upstream ${upstream.name} is at ${upstream.baseURL}: write the name of a model that is there`;
  return [{ path, message }];
}

function isStub({ baseURL }: Upstream): boolean {
  const url = URL.parse(baseURL);
  return url !== null && (STUB_PORT.test(url.port) || /(^|[-.])stub([-.]|$)/.test(url.hostname));
}
