import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { OperationName } from "../../domain/access/operations.ts";
import { sanitizeUntrusted } from "../../domain/redact.ts";
import type { TokenCount } from "../../domain/usage/token-count.ts";
import type { Logger } from "../../runtime/log.ts";
import type { Store } from "../../store/database/store.ts";
import { type NotedLibrary, recordLibraries } from "../../store/keys/uses/key-libraries.ts";
import { type NotedNetwork, recordNetworks } from "../../store/keys/uses/key-networks.ts";
import { markUsageWritten, recordUsage } from "../../store/keys/uses/usage.ts";
import { clientAddress } from "../http/client-address.ts";
import type { VersionUse } from "../key-index/key-index.ts";
import { CallerNetworks } from "./caller-networks.ts";
import { CountBuffer } from "./count-buffer.ts";
import { LostUses } from "./lost-uses.ts";
import { REQUESTS, RequestCounter, type RequestCounts, type RequestsOfTeam } from "./request-counts.ts";
import { TOKENS, TokenCounter, type TokenCounts } from "./token-counts.ts";
import type { CountTokens } from "./token-metrics.ts";
import type { Consumer, CountedAnswer, UsageRecorder } from "./usage-recorder.ts";
import { UsedLibraries } from "./used-libraries.ts";
import { type OfTeam, WaitingNotes } from "./waiting-notes.ts";

/** Longest User-Agent that is kept. */
const MAX_USER_AGENT = 200;

/** Who used a version that is being replaced: what StaleConsumers reports (spec §5). */
type Seen = { readonly address: string; readonly userAgent?: string };

/** Who used which versions, by {@link nameOf}. */
export type SeenConsumers = Map<string, Seen>;

/** Notes the client of a retiring key version: such clients have to be found before the version ends. */
export function noteConsumer(seen: SeenConsumers, key: KeyRecord, consumer: Consumer): void {
  if (key.versionState !== "retiring") return;
  // Both are made when they are asked for: nearly no request needs them.
  const { headers } = consumer;
  const ip = clientAddress(consumer);
  const userAgent = headers["user-agent"]?.slice(0, MAX_USER_AGENT);
  seen.set(nameOf(key), { address: ip, ...(userAgent !== undefined && { userAgent }) });
}

/** The replica whose index notes the uses. Times are milliseconds since the epoch. */
type NotedIn = {
  readonly id: string;
  /** The database's time at the last heartbeat; undefined before the first. */
  databaseTimeAtBeat(): number | undefined;
  noteUse(key: KeyRecord, at: number): void;
  /** Takes what was noted since the last time. */
  drainUses(): readonly VersionUse[];
};

/**
 * When each key was last used, and how often: one store in memory for a request, written in batches. Each flush also
 * records the time up to which all uses are written, even where there were none: an old version may end once that time
 * is known of every replica.
 */
export class UsageBuffer implements UsageRecorder {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #replica: NotedIn;
  /** By version; what could not be written stays. */
  #unwritten = new Map<string, VersionUse>();
  #seen: SeenConsumers = new Map();
  readonly #lost: LostUses;
  readonly #networks = new CallerNetworks();
  readonly #unwrittenNetworks: WaitingNotes<NotedNetwork>;
  readonly #libraries = new UsedLibraries();
  readonly #unwrittenLibraries: WaitingNotes<NotedLibrary>;
  readonly #requests = new RequestCounter();
  readonly #unwrittenRequests: CountBuffer<RequestsOfTeam>;
  readonly #tokens: TokenCounter;
  readonly #unwrittenTokens: CountBuffer<TokenCount>;
  #flushing: Promise<void> | undefined;

  constructor(store: Store, log: Logger, replica: NotedIn, countTokens: CountTokens) {
    this.#store = store;
    this.#log = log;
    this.#replica = replica;
    this.#lost = new LostUses(store);
    const onLoss = () => this.#lost.note();
    this.#unwrittenNetworks = new WaitingNotes({
      nameOf: ({ keyId, network, day }) => `${keyId} ${network} ${day}`,
      record: (noted) => recordNetworks(store, noted),
      atOnce: store.backgroundRows,
      onLoss,
    });
    this.#unwrittenLibraries = new WaitingNotes({
      nameOf: ({ keyId, libraryId, day }) => `${keyId} ${libraryId} ${day}`,
      record: (noted) => recordLibraries(store, noted),
      atOnce: store.backgroundRows,
      onLoss,
    });
    this.#unwrittenRequests = new CountBuffer(REQUESTS, store, log, onLoss);
    this.#tokens = new TokenCounter(countTokens);
    this.#unwrittenTokens = new CountBuffer(TOKENS, store, log, onLoss);
  }

  record(key: KeyRecord, at: number, consumer: Consumer): void {
    this.#replica.noteUse(key, at);
    noteConsumer(this.#seen, key, consumer);
    this.#networks.note(key, at, consumer);
  }

  noteLibrary(key: KeyRecord, libraryId: string, at: number): void {
    this.#libraries.note(key, libraryId, at);
  }

  countRequest(key: KeyRecord, operation: OperationName, at: number): void {
    this.#requests.count(key, operation, at);
  }

  countAnswer(key: KeyRecord, answer: CountedAnswer, at: number): void {
    this.#tokens.count(key, answer, at);
  }

  /** Takes in what this thread has counted: often, so that no turn of it is long. */
  collectCounts(): void {
    this.addRequests(this.#requests.drain());
    this.addTokens(this.#tokens.drain());
    this.addNetworks(this.#networks.drain());
    this.addLibraries(this.#libraries.drain());
  }

  /** Takes in what another thread has counted. */
  addRequests(counts: RequestCounts): void {
    this.#unwrittenRequests.add(counts);
  }

  /** Likewise of tokens. */
  addTokens(counts: TokenCounts): void {
    this.#unwrittenTokens.add(counts);
  }

  /** Likewise of the networks that keys were called from. */
  addNetworks(networks: readonly OfTeam<NotedNetwork>[]): void {
    this.#unwrittenNetworks.add(networks);
  }

  /** Likewise of the libraries that keys have used. */
  addLibraries(libraries: readonly OfTeam<NotedLibrary>[]): void {
    this.#unwrittenLibraries.add(libraries);
  }

  /** Takes in the clients that another thread has seen. */
  addSeen(seen: SeenConsumers): void {
    for (const [name, who] of seen) this.#seen.set(name, who);
  }

  /**
   * Writes what has been noted. A batch that fails is written with the next, and what was used since then wins over it.
   */
  flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  /**
   * Writes all that was noted before, also while a batch is under way.
   *
   * @returns whether all of it is written
   */
  async close(): Promise<boolean> {
    await this.#flushing;
    await this.flush();
    const buffers = [
      ...[this.#unwrittenRequests, this.#unwrittenTokens],
      ...[this.#unwrittenNetworks, this.#unwrittenLibraries],
    ];
    return this.#unwritten.size === 0 && !this.#lost.isUnsaid && buffers.every(({ isWritten }) => isWritten);
  }

  async #write(): Promise<void> {
    // A use is noted as it happens: every use before this time is among those that are written now.
    const until = this.#replica.databaseTimeAtBeat();
    for (const use of this.#replica.drainUses()) this.#unwritten.set(nameOf(use), use);
    const [writing, seen] = [this.#unwritten, this.#seen];
    this.#unwritten = new Map();
    this.#seen = new Map();
    const uses = [...writing].map(([name, { keyId, version, at }]) => ({
      keyId,
      version,
      at,
      ...readable(seen.get(name)),
    }));
    try {
      const atOnce = this.#store.backgroundRows;
      for (let from = 0; from < uses.length; from += atOnce) {
        await recordUsage(this.#store, uses.slice(from, from + atOnce));
      }
      if (until !== undefined) await markUsageWritten(this.#store, this.#replica.id, until);
    } catch (error) {
      this.#log.warn({ error, count: uses.length }, "could not store when keys were last used; it is tried again");
      this.#unwritten = writing;
      this.#seen = new Map([...seen, ...this.#seen]);
    }
    // Last: a key's old version waits for the uses, and nothing waits for these.
    this.collectCounts();
    await this.#unwrittenRequests.write();
    await this.#unwrittenTokens.write();
    await this.#writeNotes(this.#lost, "that uses of keys were lost");
    await this.#writeNotes(this.#unwrittenNetworks, "from which networks keys were called");
    await this.#writeNotes(this.#unwrittenLibraries, "which libraries keys have used");
  }

  async #writeNotes(notes: Pick<LostUses, "write">, what: string): Promise<void> {
    try {
      await notes.write();
    } catch (error) {
      this.#log.warn({ error }, `could not store ${what}; it is tried again`);
    }
  }
}

function nameOf({ keyId, version }: { readonly keyId: string; readonly version: number }): string {
  return `${keyId} ${version}`;
}

/** As it may be written down: a User-Agent is a stranger's text. */
function readable(seen: Seen | undefined): Seen | undefined {
  if (seen?.userAgent === undefined) return seen;
  return { ...seen, userAgent: sanitizeUntrusted(seen.userAgent, MAX_USER_AGENT) };
}
