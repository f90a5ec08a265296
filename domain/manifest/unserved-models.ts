import type { NamedRef } from "../key/declared-key.ts";
import type { Path } from "./diagnostic.ts";
import { isOfKind, type ManifestWorld, type WorldObject } from "./manifest-world.ts";

/** A model that a declaration names and its gateway, which serves its routes alone, has no route of. */
export type UnservedModel = {
  readonly path: Path;
  readonly model: string;
  readonly gateway: WorldObject<"ModelGateway">;
};

/** The models that a key bound to a gateway, or a library embedded through one, names in vain. */
export function unservedModels(object: WorldObject, { find }: Pick<ManifestWorld, "find">): UnservedModel[] {
  const { ref, models } = namedModels(object);
  const gateway = ref && find("ModelGateway", { namespace: ref.namespace ?? object.namespace, name: ref.name });
  if (gateway === undefined || gateway.spec.routesOnly !== true) return [];
  const served = new Set(gateway.spec.routes.map(({ model }) => model));
  return models.filter(({ model }) => !served.has(model)).map((named) => ({ ...named, gateway }));
}

type Ref = Pick<NamedRef, "name"> & Partial<NamedRef>;

function namedModels(object: WorldObject): {
  readonly ref: Ref | undefined;
  readonly models: readonly { readonly path: Path; readonly model: string }[];
} {
  if (isOfKind(object, "PlatformKey")) {
    const { gatewayRef, allowedModels = [] } = object.spec;
    return {
      ref: gatewayRef,
      models: allowedModels.map((model, i) => ({ path: ["spec", "allowedModels", i], model })),
    };
  }
  const embedding = isOfKind(object, "MemoryLibrary") ? object.spec.embedding : undefined;
  if (embedding === undefined) return { ref: undefined, models: [] };
  return { ref: embedding.gatewayRef, models: [{ path: ["spec", "embedding", "model"], model: embedding.model }] };
}
