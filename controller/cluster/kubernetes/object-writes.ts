/**
 * Writes to our own objects: finalizers and status, each as a patch that the API server takes only for exactly the
 * object, by uid and resourceVersion, that it was made from. A patch that was outrun is made again from the fresh
 * object.
 */
import { isDeepStrictEqual } from "node:util";
import { ClusterError, type DeclaredObject, FINALIZER, type ObjectStatus } from "../port.ts";
import { titleOf } from "../titles.ts";
import type { ApiClient } from "./api/api-client.ts";
import { isConflict, isNotFound, writeError } from "./api/api-error.ts";
import { objectPath, objectResource } from "./resources.ts";
import type { StatusOwners } from "./status-owners.ts";
import type { WatchedObjects } from "./watch/objects.ts";
import { finalizersOf, mayHaveMoreFinalizers } from "./watch/read-object.ts";

/** Number of times that a patch is made at once; after that it is left to the queue's back-off. */
const ATTEMPTS = 5;

/** Operation of a JSON patch. `add` replaces what is there already. */
type Operation = { readonly op: "add"; readonly path: string; readonly value: unknown };

export type ObjectWrites = {
  addFinalizer(object: DeclaredObject): Promise<void>;
  removeFinalizer(object: DeclaredObject): Promise<void>;
  writeStatus(object: DeclaredObject, status: ObjectStatus): Promise<void>;
};

export function createObjectWrites(
  api: ApiClient,
  objects: WatchedObjects,
  owners: StatusOwners,
  fieldManager: string,
): ObjectWrites {
  /**
   * Patches an object.
   *
   * @param make returns what to change in the object as it is; undefined for nothing
   * @returns false if the object is gone
   */
  async function patch(
    object: DeclaredObject,
    doing: string,
    subresource: "" | "/status",
    make: (now: DeclaredObject) => Operation | undefined,
  ): Promise<boolean> {
    const path = objectPath(object);
    for (let attempt = 1; ; attempt++) {
      const kept = objects.current(object);
      const now = kept && subresource === "" ? await withAllFinalizers(kept) : kept;
      if (now === undefined) return false;
      const operation = make(now);
      if (operation === undefined) return true;
      try {
        const raw = await api.request({
          method: "PATCH",
          path: `${path}${subresource}`,
          query: { fieldManager },
          contentType: "application/json-patch+json",
          body: [
            { op: "add", path: "/metadata/uid", value: now.uid },
            { op: "add", path: "/metadata/resourceVersion", value: now.resourceVersion },
            operation,
          ],
        });
        objects.absorb(objects.read(object.kind, raw));
        return true;
      } catch (error) {
        if (isNotFound(error, objectResource(object))) {
          objects.forget(object);
          return false;
        }
        if (!isConflict(error) || attempt === ATTEMPTS) throw writeError(error, `${doing} ${titleOf(object)}`);
        await refresh(object);
      }
    }
  }

  /**
   * Returns an object whose finalizers are to be written, with all of them. It is read again if we may have kept only
   * some.
   */
  async function withAllFinalizers(kept: DeclaredObject): Promise<DeclaredObject | undefined> {
    if (!mayHaveMoreFinalizers(kept)) return kept;
    const raw = await readAgain(kept);
    if (raw === undefined) return undefined;
    const { resourceVersion } = objects.read(kept.kind, raw).object;
    return { ...kept, resourceVersion, finalizers: finalizersOf(raw) };
  }

  async function refresh(object: DeclaredObject): Promise<void> {
    const raw = await readAgain(object);
    if (raw !== undefined) objects.found(objects.read(object.kind, raw));
  }

  /** Reads an object again from the API server; if it is gone, forgets it and returns undefined. */
  async function readAgain(object: DeclaredObject): Promise<unknown> {
    try {
      return await api.request({ method: "GET", path: objectPath(object) });
    } catch (error) {
      if (!isNotFound(error, objectResource(object))) throw writeError(error, `reading ${titleOf(object)} again`);
      objects.forget(object);
      return undefined;
    }
  }

  return {
    async addFinalizer(object) {
      const there = await patch(object, "adding our finalizer to", "", ({ finalizers, deleting }) => {
        if (finalizers.includes(FINALIZER)) return undefined;
        if (!deleting) return { op: "add", path: "/metadata/finalizers", value: [...finalizers, FINALIZER] };
        throw new ClusterError("Forbidden", `${titleOf(object)} is being removed: it takes no finalizer any more`);
      });
      if (!there) throw new ClusterError("NotFound", `${titleOf(object)} is gone`);
    },
    async removeFinalizer(object) {
      try {
        await patch(object, "removing our finalizer from", "", ({ finalizers }) => {
          const others = finalizers.filter((one) => one !== FINALIZER);
          if (others.length === finalizers.length) return undefined;
          return { op: "add", path: "/metadata/finalizers", value: others };
        });
      } catch (error) {
        if (!(error instanceof ClusterError && error.code === "NotFound")) throw error;
        // Its namespace was forced to go: no one can reach the object any more, and what it stood for has ended.
        objects.forget(object);
      }
    },
    async writeStatus(object, status) {
      // The status as it will be read back: without what JSON does not have.
      const wanted: ObjectStatus = JSON.parse(JSON.stringify({ ...status, controllerName: owners.name }));
      let before: DeclaredObject | undefined;
      objects.expectStatus(object, wanted);
      try {
        const isThere = await patch(object, "writing the status of", "/status", (now) => {
          before = saysTheSame(now.status, wanted) || owners.leaves(now, wanted) ? undefined : now;
          return before && { op: "add", path: "/status", value: wanted };
        });
        if (isThere && before !== undefined) owners.wrote(before);
      } finally {
        objects.expectStatus(object, undefined);
      }
    },
  };
}

/** True if two statuses are equal, apart from the controller that wrote them. */
function saysTheSame(status: ObjectStatus | undefined, wanted: ObjectStatus): boolean {
  const { controllerName: _, ...says } = wanted;
  const { controllerName: __, ...said } = status ?? {};
  return isDeepStrictEqual(said, says);
}
