import { assertSchemaVersion } from "../../store/database/migrate/migrate.ts";
import type { ListenConnection, Store } from "../../store/database/store.ts";
import type { Keyring } from "../../store/encryption/keyring.ts";
import { CHANGES_CHANNEL, type Changes, changesAfter, type Snapshot, snapshot } from "../../store/feed/change-feed.ts";
import type { IndexedKey } from "../../store/keys/rows/key-records.ts";
import { noteLostUses } from "../../store/keys/uses/lost-uses.ts";
import type { ReplicaRegister } from "../../store/replicas/replicas.ts";
import {
  deregisterReplica,
  type FeedPosition,
  type Heartbeat,
  heartbeat,
  registerReplica,
  replicaRegister,
} from "../../store/replicas/replicas.ts";
import { endAllSessions } from "../../store/sessions/sessions.ts";

/** Questions that a replica asks the database to keep its index current. */
export type Feed = {
  /** @param leaseMs milliseconds that the replica may serve without an answer */
  register(replica: string, leaseMs: number): Promise<void>;
  deregister(replica: string): Promise<void>;
  heartbeat(replica: string, last: FeedPosition): Promise<Heartbeat>;
  changesAfter(seq: number, limit: number): Promise<Changes>;
  /** Reads a snapshot. Throws SchemaVersionError for a schema that this build cannot read. */
  snapshot(receive: (keys: readonly IndexedKey[], total: number) => void): Promise<Snapshot>;
  /** Repairs a database that was put back in time: records that uses of keys are missing, and ends all sessions. */
  makeGood(): Promise<void>;
  readonly replicas: ReplicaRegister;
  listen(onHint: () => void, onEnd: () => void): Promise<ListenConnection>;
};

/**
 * Creates a feed.
 *
 * @param feedStore the same database by connections that nothing else uses: questions that keep the lease go by them.
 *   Questions that may take long, or may have to wait, go by `store`
 * @param hasSpareToken as {@link ReplicaTraits} has it
 */
export function feedOf(store: Store, feedStore: Store, keyring: Keyring, hasSpareToken = false): Feed {
  return {
    register: (replica, leaseMs) => registerReplica(feedStore, replica, { leaseMs, keyring, hasSpareToken }),
    deregister: (replica) => deregisterReplica(feedStore, replica),
    heartbeat: (replica, last) => heartbeat(feedStore, replica, last, Date.now()),
    changesAfter: (seq, limit) => changesAfter(feedStore, seq, limit),
    async snapshot(receive) {
      await assertSchemaVersion(store);
      return snapshot(store, receive);
    },
    async makeGood() {
      await noteLostUses(store);
      await endAllSessions(store.db);
    },
    replicas: replicaRegister(store),
    listen: (onHint, onEnd) => store.listen(CHANGES_CHANNEL, onHint, onEnd),
  };
}
