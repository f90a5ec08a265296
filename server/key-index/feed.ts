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

/** What a replica asks of the database to keep its index current. */
export type Feed = {
  /** @param leaseMs how long it may serve without an answer */
  register(replica: string, leaseMs: number): Promise<void>;
  deregister(replica: string): Promise<void>;
  heartbeat(replica: string, last: FeedPosition): Promise<Heartbeat>;
  changesAfter(seq: number, limit: number): Promise<Changes>;
  /** Throws SchemaVersionError for what this build cannot read. */
  snapshot(receive: (keys: readonly IndexedKey[], total: number) => void): Promise<Snapshot>;
  /**
   * After the database was put back in time: says that uses of keys are missing, and ends the sessions that may have come
   * back to life.
   */
  makeGood(): Promise<void>;
  readonly replicas: ReplicaRegister;
  listen(onHint: () => void, onEnd: () => void): Promise<ListenConnection>;
};

/**
 * @param feedStore the same database by connections that nothing else uses: what keeps the lease goes by them. What may
 *   take long, or may have to wait, goes by `store`
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
