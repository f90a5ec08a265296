import type { Changes, FeedChange, Snapshot } from "../../../../store/feed/change-feed.ts";
import type { IndexedKey } from "../../../../store/keys/rows/key-records.ts";
import type { FeedPosition, Heartbeat, Neighbour, ReplicaRow, Replicas } from "../../../../store/replicas/replicas.ts";
import { digestOf } from "../../../store/fixtures.ts";
import type { TrueTime } from "./time.ts";

/** What the store has of a key: how often its policy was changed, and whether it is revoked. */
export type SimKey = { readonly revision: number; readonly revoked: boolean };

type Row = { acked: number; seenAt: number; readonly leaseMs: number };

/** What a commit has left behind. */
type State = {
  readonly keys: ReadonlyMap<string, SimKey>;
  readonly replicas: ReadonlyMap<string, Readonly<Row>>;
  readonly changes: readonly FeedChange[];
  readonly head: number;
};

/** A change that was committed, and is in the present history. */
export type Commit = { readonly seq: number; readonly keyId: string; readonly key: SimKey; readonly at: number };

/** A database of keys and their feed, as the store's functions make one: each answer is as of one moment. */
export class SimDatabase {
  readonly #time: TrueTime;
  #keys = new Map<string, SimKey>();
  #replicas = new Map<string, Row>();
  #changes: FeedChange[] = [];
  #head = 0;
  #ids = 0;
  #clockOffset = 0;
  /** The state after each commit of the present history. */
  #history: State[] = [];
  /** Of the present history. */
  #commits: Commit[] = [];
  /** How many replicas it reports. */
  countedReplicas = 0;
  /** Which history this is: another one each time that it is rolled back. */
  history = 0;

  constructor(time: TrueTime) {
    this.#time = time;
  }

  get head(): number {
    return this.#head;
  }

  get commits(): readonly Commit[] {
    return this.#commits;
  }

  key(keyId: string): SimKey | undefined {
    return this.#keys.get(keyId);
  }

  commit(keyId: string, make: (key: SimKey | undefined) => SimKey): number {
    const key = make(this.#keys.get(keyId));
    this.#keys.set(keyId, key);
    this.#head++;
    this.#changes.push({ seq: this.#head, id: `change-${++this.#ids}`, kind: "key", ref: keyId });
    this.#commits.push({ seq: this.#head, keyId, key, at: this.#time.now });
    this.#history.push({
      keys: new Map(this.#keys),
      replicas: new Map([...this.#replicas].map(([id, row]) => [id, { ...row }])),
      changes: [...this.#changes],
      head: this.#head,
    });
    return this.#head;
  }

  /** Loses the last commits, as a failover or an older backup does, and what replicas have reported since. */
  rollBack(commits: number): void {
    const state = this.#history.at(-1 - commits);
    if (state === undefined) return;
    this.history++;
    this.#history = this.#history.slice(0, this.#history.length - commits);
    this.#keys = new Map(state.keys);
    this.#replicas = new Map([...state.replicas].map(([id, row]) => [id, { ...row }]));
    this.#changes = [...state.changes];
    this.#head = state.head;
    this.#commits = this.#commits.filter(({ seq }) => seq <= state.head);
  }

  prune(keep: number): void {
    this.#changes = this.#changes.filter(({ seq }) => seq > this.#head - keep);
  }

  setClock(byMs: number): void {
    this.#clockOffset += byMs;
  }

  #now(): number {
    return this.#time.now + this.#clockOffset;
  }

  #idOf(seq: number): string | null {
    return this.#changes.find((change) => change.seq === seq)?.id ?? null;
  }

  register(id: string, leaseMs: number): void {
    this.#replicas.set(id, { acked: 0, seenAt: this.#now(), leaseMs });
  }

  deregister(id: string): void {
    this.#replicas.delete(id);
  }

  heartbeat(id: string, last: FeedPosition): Heartbeat {
    const idOfLastSeq = this.#idOf(last.seq);
    const row = this.#replicas.get(id);
    if (row !== undefined) {
      row.seenAt = this.#now();
      row.acked = idOfLastSeq === last.id ? last.seq : 0;
    }
    return {
      registered: row !== undefined,
      head: this.#head,
      idOfLastSeq,
      databaseNow: this.#now(),
      notificationQueue: 0,
      neighbour: this.#neighbour(id),
      replicas: this.countedReplicas,
    };
  }

  #neighbour(id: string): Neighbour | null {
    const others = [...this.#replicas].filter(([other]) => other !== id).sort(([a], [b]) => (a < b ? 1 : -1));
    const [other, row] = others.find(([other]) => other < id) ?? others[0] ?? [];
    return row === undefined ? null : { sign: `${other} ${row.seenAt}`, leaseMs: row.leaseMs };
  }

  readReplicas(seq: number): Replicas {
    return {
      incarnation: String(this.history),
      head: { seq: this.#head, id: this.#idOf(this.#head) },
      idOfSeq: this.#idOf(seq),
      replicas: [...this.#replicas].map(([id, { acked, seenAt, leaseMs }]) => ({
        ...{ id, ackedSeq: acked, seenAt: String(seenAt), leaseMs },
      })),
    };
  }

  removeReplicas(dead: readonly ReplicaRow[]): void {
    for (const { id, seenAt } of dead) {
      if (String(this.#replicas.get(id)?.seenAt) === seenAt) this.#replicas.delete(id);
    }
  }

  snapshot(receive: (keys: readonly IndexedKey[], total: number) => void): Snapshot {
    const keys = [...this.#keys].filter(([, { revoked }]) => !revoked).map(indexed);
    receive(keys, keys.length);
    return { head: this.#head, headId: this.#idOf(this.#head), gateways: [], teams: [] };
  }

  changesAfter(seq: number, limit: number): Changes {
    const changes = this.#changes.filter((change) => change.seq > seq).slice(0, limit);
    const gone = this.#head < seq || (this.#head > seq && changes[0]?.seq !== seq + 1);
    const refs = new Set(gone ? [] : changes.map(({ ref }) => ref));
    return {
      head: this.#head,
      idOfSeq: this.#idOf(seq),
      changes: gone ? [] : changes,
      gone,
      keys: [...this.#keys].filter(([id]) => refs.has(id)).map(indexed),
      gateways: [],
      teams: [],
      removed: { keyIds: [...refs].filter((ref) => !this.#keys.has(ref)), gatewayIds: [], teamIds: [] },
    };
  }
}

const digests = new Map<string, string>();

/** How a key's only version is found. */
export function digestOfKey(keyId: string): string {
  let digest = digests.get(keyId);
  if (digest === undefined) {
    digest = digestOf(keyId);
    digests.set(keyId, digest);
  }
  return digest;
}

/** The scopes encode the revision: nothing here reads them as scopes. */
function indexed([keyId, { revision, revoked }]: readonly [string, SimKey]): IndexedKey {
  return {
    digest: digestOfKey(keyId),
    keyId,
    version: 1,
    expiresAt: Number.POSITIVE_INFINITY,
    importedFormat: false,
    attributes: {
      teamId: "team",
      namespace: "ns",
      teamHoldsNamespace: true,
      state: revoked ? "revoked" : "active",
      versionState: revoked ? "revoked" : "active",
      scopes: revision,
      boundGatewayId: null,
      libraryIds: null,
      mcpDefaultLibraryId: null,
      teamDefaultLibraryId: null,
      allowedModels: null,
      rateLimit: null,
      concurrent: null,
      tokenLimit: null,
      subject: null,
      allowedCIDRs: null,
      teamAllowedCIDRs: null,
      teamLimits: null,
    },
  };
}
