import type { Kind } from "../../domain/kinds/kinds.ts";
import type { LogLine } from "../../runtime/log-line.ts";
import type { Fence } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import type { Keyring } from "../../store/encryption/keyring.ts";
import type { Cluster } from "../cluster/port.ts";
import type { Confirmations } from "./confirmations.ts";
import type { DatabaseClock } from "./database-clock.ts";
import type { PendingEvents } from "./pending-events.ts";

/** What every reconciler is given. */
export type ControllerDeps = {
  readonly cluster: Cluster;
  readonly store: Store;
  /** This leader's right to write: every change of the store carries it. */
  readonly fence: Fence;
  readonly keyring: Keyring;
  readonly confirmations: Confirmations;
  readonly pendingEvents: PendingEvents;
  /** This process's own clock: for what is shown, and for nothing that is decided. */
  readonly clock: { now(): number };
  readonly databaseClock: DatabaseClock;
  /** A CSPRNG. */
  readonly randomBytes: (size: number) => Uint8Array;
  /** Where clients reach the server. */
  readonly publicUrl: string;
  /** The namespace that Keyplane runs in, which is no team's; undefined outside of a cluster. */
  readonly ownNamespace?: string | undefined;
  readonly log: LogLine;
  /** Called after each look at a kind, with whether its garbage collection is paused. */
  readonly onCollected?: (kind: Kind, isPaused: boolean) => void;
};
