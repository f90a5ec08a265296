import type { KeyRecord } from "../../domain/access/key-record.ts";
import { sanitizeUntrusted } from "../../domain/redact.ts";
import type { TokenCount } from "../../domain/usage/token-count.ts";
import type { Logger } from "../../runtime/log.ts";
import type { Store } from "../../store/database/store.ts";
import { type NotedLibrary, recordLibraries } from "../../store/keys/uses/key-libraries.ts";
import { type NotedNetwork, recordNetworks } from "../../store/keys/uses/key-networks.ts";
import { markUsageWritten, recordUsage } from "../../store/keys/uses/usage.ts";
import type { VersionUse } from "../key-index/key-index.ts";
import { CountBuffer } from "./count-buffer.ts";
import { LostUses } from "./lost-uses.ts";
import { REQUESTS, type RequestsOfTeam } from "./request-counts.ts";
import { TOKENS } from "./token-counts.ts";
import type { CountTokens } from "./token-metrics.ts";
import { MAX_USER_AGENT, nameOf, type SeenClient, type UsageReport, UseNotes } from "./use-notes.ts";
import { WaitingNotes } from "./waiting-notes.ts";

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
 * Buffers the time when each key was last used, and how often: one store in memory for a request, written in batches.
 * Each flush also records the time up to which all uses are written, even if there were none: an old version may end
 * once that time is known of every replica.
 */
export class UsageBuffer extends UseNotes {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #replica: NotedIn;
  /** Uses by version; what could not be written stays. */
  #unwritten = new Map<string, VersionUse>();
  #seen = new Map<string, SeenClient>();
  readonly #lost: LostUses;
  readonly #unwrittenNetworks: WaitingNotes<NotedNetwork>;
  readonly #unwrittenLibraries: WaitingNotes<NotedLibrary>;
  readonly #unwrittenRequests: CountBuffer<RequestsOfTeam>;
  readonly #unwrittenTokens: CountBuffer<TokenCount>;
  #flushing: Promise<void> | undefined;

  constructor(store: Store, log: Logger, replica: NotedIn, countTokens: CountTokens) {
    super((key, at) => replica.noteUse(key, at), countTokens);
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
    this.#unwrittenTokens = new CountBuffer(TOKENS, store, log, onLoss);
  }

  /** Takes in what this thread has noted and counted: often, so that no iteration of its event loop is long. */
  collect(): void {
    const report = this.drain();
    if (report !== undefined) this.take(report);
  }

  /** Takes in what a thread has noted and counted. */
  take({ seen, requests, tokens, networks, libraries }: UsageReport): void {
    for (const [name, who] of seen) this.#seen.set(name, who);
    this.#unwrittenRequests.add(requests);
    this.#unwrittenTokens.add(tokens);
    this.#unwrittenNetworks.add(networks);
    this.#unwrittenLibraries.add(libraries);
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
   * @returns true if all of it is written
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
    this.collect();
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

/** Returns what was seen as it may be written down: a User-Agent is a stranger's text. */
function readable(seen: SeenClient | undefined): SeenClient | undefined {
  if (seen?.userAgent === undefined) return seen;
  return { ...seen, userAgent: sanitizeUntrusted(seen.userAgent, MAX_USER_AGENT) };
}
