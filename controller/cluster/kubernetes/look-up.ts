/**
 * Look-up of one object by name at the API server, which decides whether the object is gone. Without a resourceVersion
 * the answer is the store's own and not a cache's. An object that a list lacks is not thereby gone.
 */
import { setTimeout as delay } from "node:timers/promises";
import { lookUpAt, type Presence } from "../../../domain/garbage-collection.ts";
import { isRecord } from "../../../domain/manifest/document/identity.ts";
import type { ApiClient } from "./api/api-client.ts";
import { isNotFound, type ResourceName } from "./api/api-error.ts";
import type { ClusterIdentity } from "./identity.ts";

/** Object that is looked up. */
export type LookUpTarget = ResourceName & {
  readonly path: string;
  /**
   * Uid of the object that is meant: an object of its name with another uid means that it is gone. null for any uid.
   */
  readonly uid: string | null;
};

/**
 * Result of a look-up. `object` is what was found under the name, with any uid; undefined if nothing was found, or
 * nothing is known.
 */
export type LookUpResult = {
  readonly presence: Presence;
  readonly object: Readonly<Record<string, unknown>> | undefined;
};

export type LookUp = (wanted: LookUpTarget, signal: AbortSignal) => Promise<LookUpResult>;

const UNKNOWN: LookUpResult = { presence: "unknown", object: undefined };

/** Makes the look-up. Requests that come at once are sent at intervals ({@link lookUpAt}). */
export function createLookUp(
  api: ApiClient,
  identity: Pick<ClusterIdentity, "confirm">,
  clock: { monotonic(): number },
): LookUp {
  let lastAt = Number.NEGATIVE_INFINITY;

  async function waitForSlot(signal: AbortSignal): Promise<void> {
    const now = clock.monotonic();
    lastAt = lookUpAt(now, lastAt);
    await delay(lastAt - now, undefined, { signal });
  }

  async function ask({ path, uid, ...resource }: LookUpTarget, signal: AbortSignal): Promise<LookUpResult> {
    try {
      const object = await api.request({ method: "GET", path, maxAttempts: 1, signal });
      const { metadata } = isRecord(object) ? object : {};
      if (!isRecord(object) || !isRecord(metadata) || metadata.name !== resource.name) return UNKNOWN;
      if (typeof metadata.uid !== "string" || metadata.uid === "") return UNKNOWN;
      return { presence: uid === null || metadata.uid === uid ? "present" : "gone", object };
    } catch (error) {
      return isNotFound(error, resource) ? { presence: "gone", object: undefined } : UNKNOWN;
    }
  }

  return async (wanted, signal) => {
    try {
      await waitForSlot(signal);
      const found = await ask(wanted, signal);
      // Of another cluster, neither answer counts.
      if (found.presence !== "unknown") await identity.confirm();
      return found;
    } catch {
      return UNKNOWN;
    }
  };
}
