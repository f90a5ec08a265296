import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { createLog } from "../../../runtime/log.ts";
import { KeyIndex } from "../../../server/key-index/key-index.ts";
import { Lease } from "../../../server/key-index/lease.ts";
import { ServedState } from "../../../server/key-index/served-state.ts";
import { sharedCells } from "../../../server/key-index/shared-cells.ts";
import { type Keyring, parseKeyring, seal } from "../../../store/encryption/keyring.ts";
import type { Changes } from "../../../store/feed/change-feed.ts";
import type { SealedGateway } from "../../../store/gateways/gateways.ts";
import { keyring, shiftableClock } from "./replica-fixtures.ts";

const other = parseKeyring(randomBytes(32).toString("base64"));

/** A gateway whose one credential is sealed under a keyring. */
function gateway(gatewayId: string, under: Keyring): SealedGateway {
  const upstream = { name: "main", dialect: "openai", baseUrl: "https://models.example.com" } as const;
  const sealed = seal(under, "a credential", gatewayId);
  const upstreams = [{ ...upstream, sealed }];
  return {
    ...{ gatewayId, publicId: gatewayId, teamId: "team" },
    ...{ teamHoldsNamespace: true, routesOnly: false, routes: [], upstreams },
  };
}

/** News of one gateway. */
function changes(gateways: readonly SealedGateway[], removed: readonly string[] = []): Changes {
  return {
    ...{ changes: [], keys: [], gateways, teams: [], gone: false, head: 2, idOfSeq: null },
    removed: { keyIds: [], gatewayIds: removed, teamIds: [] },
  };
}

test("gateways that no encryption key opens are counted until they are opened or gone", async () => {
  const cells = sharedCells();
  const deps = { keyring, placeholders: [], log: createLog("debug", { write: () => {} }) };
  const state = new ServedState(deps, Lease.begin(shiftableClock(), cells.lease), cells);
  const gateways = [gateway("known", keyring), gateway("mended", other), gateway("removed", other)];
  state.replace(new KeyIndex(), { head: 1, headId: null, gateways, teams: [] });
  expect(state.unreadableGateways).toBe(2);
  await state.apply(changes([gateway("mended", keyring)]));
  expect(state.unreadableGateways).toBe(1);
  await state.apply(changes([], ["removed"]));
  expect(state.unreadableGateways).toBe(0);
});
