import { refusedCredentials } from "../../store/upstream-outcomes.ts";
import type { ObjectRef } from "../cluster/port.ts";
import type { ControllerDeps } from "../deps.ts";

/** How soon a controller notices what calls have shown of a credential: no watch tells of it. Milliseconds. */
export const REFUSED_CREDENTIALS_INTERVAL_MS = 5_000;

/**
 * Makes a question: of which gateways do other upstreams refuse their credentials than when it was asked before? The first
 * time, of those where any does.
 */
export function watchRefusedCredentials({
  cluster,
  store,
}: ControllerDeps): () => Promise<ObjectRef<"ModelGateway">[]> {
  let before = new Map<string, ObjectRef<"ModelGateway">>();
  return async () => {
    const refused = await refusedCredentials(store.db, cluster.uid);
    const now = new Map(
      refused.map(({ namespace, name, upstream }) => [
        JSON.stringify([namespace, name, upstream]),
        { kind: "ModelGateway" as const, namespace, name },
      ]),
    );
    const changed = new Set(before.keys()).symmetricDifference(new Set(now.keys()));
    const refs = [...changed].flatMap((key) => now.get(key) ?? before.get(key) ?? []);
    before = now;
    return refs;
  };
}
