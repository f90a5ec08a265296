import { keyDigest, keyPrefix, mintKey } from "../../domain/key/secret/key-format.ts";
import type { LibraryGateway } from "../../domain/object-conditions.ts";
import type { LibraryModelDraft } from "../../store/libraries/library-key.ts";
import { findInTeam } from "../../store/objects/references.ts";
import type { DeclaredObject } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";

type DeclaredModel = {
  readonly gatewayRef: { readonly name: string; readonly namespace?: string };
  readonly model: string;
};

/** Returns a model that a library declares to call, as the store takes it, and whether its gateway is there. */
export async function modelDraft(
  { cluster, store, randomBytes }: ControllerDeps,
  { namespace, name, generation }: DeclaredObject<"MemoryLibrary">,
  library: { readonly id: string; readonly teamId: string },
  field: LibraryGateway["field"],
  { gatewayRef, model }: DeclaredModel,
): Promise<{ readonly draft: LibraryModelDraft; readonly gateway: LibraryGateway }> {
  const ref = { namespace: gatewayRef.namespace ?? namespace, name: gatewayRef.name };
  const [found] = await findInTeam(store.db, "gateways", library.teamId, [ref], cluster.uid);
  const gatewayId = typeof found === "object" ? found.id : undefined;
  const draft = {
    library: { ...library, cluster: cluster.uid, namespace, name },
    ...{ gatewayId, model, generation },
    // The plaintext is dropped here: no client presents this key.
    mint() {
      const plaintext = mintKey(randomBytes);
      return { digest: keyDigest(plaintext), prefix: keyPrefix(plaintext) };
    },
  };
  return { draft, gateway: { field, gateway: `${ref.namespace}/${ref.name}`, isThere: gatewayId !== undefined } };
}
