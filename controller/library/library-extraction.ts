import type { LibraryGateway } from "../../domain/object-conditions.ts";
import { change } from "../../store/database/change.ts";
import { declareExtraction, endExtraction, isExtracting } from "../../store/libraries/library-extraction.ts";
import type { DeclaredObject } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";
import { modelDraft } from "./model-draft.ts";

/**
 * Declares or ends in the store that a library takes atoms out of conversations, as its declaration has it.
 *
 * @returns the gateway that the library calls for that; empty if it takes none
 */
export async function reconcileExtraction(
  deps: ControllerDeps,
  object: DeclaredObject<"MemoryLibrary">,
  library: { readonly id: string; readonly teamId: string },
): Promise<LibraryGateway[]> {
  const { store, fence } = deps;
  const { extraction } = object.spec;
  if (extraction === undefined) {
    if (await isExtracting(store.db, library.id)) {
      await change(store, fence, (tx) => endExtraction(tx, library.id));
    }
    return [];
  }
  const { draft, gateway } = await modelDraft(deps, object, library, "extraction", extraction);
  await change(store, fence, (tx) => declareExtraction(tx, { ...draft, tokensPerDay: extraction.tokensPerDay }));
  return [gateway];
}
