import { refusedCredentials } from "../../store/gateways/upstream-outcomes.ts";
import type { ObjectRef } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";

/**
 * Makes a query for the gateways of which an upstream has come to refuse its credential since the query before, or no
 * longer does. The first query returns the gateways of which any upstream refuses it.
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
