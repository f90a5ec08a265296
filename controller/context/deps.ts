import type { Kind } from "../../domain/kinds/kinds.ts";
import type { DatabaseClock } from "../../runtime/database-clock.ts";
import type { LogLine } from "../../runtime/log-line.ts";
import type { Fence } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import type { Keyring } from "../../store/encryption/keyring.ts";
import type { Cluster } from "../cluster/port.ts";
import type { Confirmations } from "./confirmations.ts";
import type { PendingEvents } from "./pending-events.ts";

/** Dependencies of every reconciler. */
export type ControllerDeps = {
  readonly cluster: Cluster;
  readonly store: Store;
  /** Right of this leader to write: every change of the store carries it. */
  readonly fence: Fence;
  readonly keyring: Keyring;
  readonly confirmations: Confirmations;
  readonly pendingEvents: PendingEvents;
  /** Clock of this process: for what is shown, and for nothing that is decided. */
  readonly clock: { now(): number };
  readonly databaseClock: DatabaseClock;
  /** Returns cryptographically secure random bytes. */
  readonly randomBytes: (size: number) => Uint8Array;
  /** URL at which clients reach the server. */
  readonly publicUrl: string;
  /** Namespace that Keyplane runs in, which is no team's; undefined outside of a cluster. */
  readonly ownNamespace?: string | undefined;
  readonly log: LogLine;
  /** Called after each look at a kind, with true if its garbage collection is paused. */
  readonly onCollected?: (kind: Kind, isPaused: boolean) => void;
};
