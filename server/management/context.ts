import type { Clock } from "../../runtime/clock.ts";
import type { Store } from "../../store/database/store.ts";
import type { Keyring } from "../../store/encryption/keyring.ts";
import type { CurrentPrices } from "../usage/price-file.ts";
import type { Receipts } from "./keys/shown/receipt.ts";

/** Dependencies of the routes of the management API. */
export type Management = {
  readonly store: Store;
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly receipts: Receipts;
  readonly prices: CurrentPrices;
};
