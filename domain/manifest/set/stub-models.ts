import type { NamedRef } from "../../key/declaration/declared-key.ts";
import type { ModelGatewaySpec } from "../../kinds/generated/model-gateway.ts";
import type { Path } from "../document/diagnostic.ts";
import { isOfKind, type ManifestWorld, type WorldObject } from "./manifest-world.ts";

/** A model name that only the stub of `npm start` knows, requested from an upstream that is not the stub. */
export type StubModel = { readonly path: Path; readonly message: string };

type Upstream = ModelGatewaySpec["upstreams"][number];

/** Names of stub models in this project's manifests and pages. The stub itself accepts any name. */
const STUB_MODEL = /^stub-/;
/** Default port of the stub, 9100, and the other ports that `npm start` names, on any host. */
const STUB_PORT = /^91\d\d$/;

const ALL: readonly Upstream["dialect"][] = ["openai", "gemini", "anthropic"];
/** Fields for which a library calls a model, and the dialects that support the call. */
const CALLS = [
  { field: "embedding", dialects: ["openai", "gemini"] },
  { field: "extraction", dialects: ALL },
] as const;

/**
 * Finds stub models that are named by a gateway's routes, a library, or a key bound to a gateway, if the upstream that
 * is asked for them is not the stub: a provider does not have them.
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

/** Returns the upstream asked for a model by its own name; undefined if only routes are served or a route has it. */
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
