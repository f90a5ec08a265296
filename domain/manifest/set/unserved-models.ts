import type { NamedRef } from "../../key/declaration/declared-key.ts";
import type { Path } from "../document/diagnostic.ts";
import { isOfKind, type ManifestWorld, type WorldObject } from "./manifest-world.ts";

/** A model that a declaration names, but that has no route in its gateway, which serves only its routes. */
export type UnservedModel = {
  readonly path: Path;
  readonly model: string;
  readonly gateway: WorldObject<"ModelGateway">;
};

/** Returns the models that a key bound to a gateway, or a library that calls a gateway, names without a route. */
export function unservedModels(object: WorldObject, { find }: Pick<ManifestWorld, "find">): UnservedModel[] {
  return namedModels(object).flatMap(({ ref, path, model }) => {
    const gateway = ref && find("ModelGateway", { namespace: ref.namespace ?? object.namespace, name: ref.name });
    if (gateway === undefined || gateway.spec.routesOnly !== true) return [];
    return gateway.spec.routes.some((route) => route.model === model) ? [] : [{ path, model, gateway }];
  });
}

type NamedModel = {
  readonly ref: (Pick<NamedRef, "name"> & Partial<NamedRef>) | undefined;
  readonly path: Path;
  readonly model: string;
};

function namedModels(object: WorldObject): NamedModel[] {
  if (isOfKind(object, "PlatformKey")) {
    const { gatewayRef: ref, allowedModels = [] } = object.spec;
    return allowedModels.map((model, i) => ({ ref, path: ["spec", "allowedModels", i], model }));
  }
  if (!isOfKind(object, "MemoryLibrary")) return [];
  const { spec } = object;
  return (["embedding", "extraction"] as const).flatMap((field) => {
    const declared = spec[field];
    return declared === undefined
      ? []
      : [{ ref: declared.gatewayRef, path: ["spec", field, "model"], model: declared.model }];
  });
}
