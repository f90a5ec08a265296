import { expect, test } from "vitest";
import { change } from "../../../../store/database/change.ts";
import { saveGateway } from "../../../../store/gateways/gateways.ts";
import { findBindings } from "../../../../store/keys/search/identified-keys.ts";
import { saveLibrary } from "../../../../store/libraries/libraries.ts";
import { describeOnEitherEngine } from "../../../env/database/engines.ts";
import { keyring } from "../../../server/key-index/replica-fixtures.ts";
import { gatewayDraft, libraryDraft, makeTeam, unique } from "../../fixtures.ts";

describeOnEitherEngine("Gateways and libraries that a list of keys is narrowed to", (store) => {
  test("b156: are found by their name, however many other teams have one that is called so", async () => {
    const namespaces = Array.from({ length: 101 }, () => unique("many"));
    const [many, few] = [await makeTeam(store(), { namespaces }), await makeTeam(store())];
    const { gatewayId, libraryId } = (
      await change(store(), null, async (tx) => {
        for (const namespace of namespaces) {
          await saveGateway(tx, gatewayDraft({ ...many, namespace }, { name: "main" }), keyring);
        }
        const gateway = await saveGateway(tx, gatewayDraft(few, { name: "main" }), keyring);
        const library = await saveLibrary(tx, libraryDraft(few, { name: "main" }));
        return { ...gateway, ...library };
      })
    ).result;
    const found = await findBindings(store().db, "main", [few.teamId]);
    expect(found.toSorted()).toEqual([gatewayId, libraryId].toSorted());
    expect(await findBindings(store().db, gatewayId, [many.teamId])).toEqual([]);
    expect(await findBindings(store().db, "main", undefined)).toHaveLength(103);
  });
});
