import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { OperationName } from "../../domain/access/operations.ts";
import type { NotedLibrary } from "../../store/keys/uses/key-libraries.ts";
import type { NotedNetwork } from "../../store/keys/uses/key-networks.ts";
import { clientAddress } from "../http/client-address.ts";
import { CallerNetworks } from "./caller-networks.ts";
import { RequestCounter, type RequestCounts } from "./request-counts.ts";
import { TokenCounter, type TokenCounts } from "./token-counts.ts";
import type { CountTokens } from "./token-metrics.ts";
import type { Caller, CountedAnswer, UsageRecorder } from "./usage-recorder.ts";
import { UsedLibraries } from "./used-libraries.ts";
import type { OfTeam } from "./waiting-notes.ts";

/** Characters of the longest User-Agent that is kept. */
export const MAX_USER_AGENT = 200;

/** Client that used a version that is being replaced, as StaleConsumers reports it (spec §5). */
export type SeenClient = { readonly address: string; readonly userAgent?: string };

/** Notes and counts of a thread on the use of keys, since it was drained last. */
export type UsageReport = {
  /** Clients by the version that they used, as {@link nameOf} names it. */
  readonly seen: ReadonlyMap<string, SeenClient>;
  readonly requests: RequestCounts;
  readonly tokens: TokenCounts;
  readonly networks: readonly OfTeam<NotedNetwork>[];
  readonly libraries: readonly OfTeam<NotedLibrary>[];
};

/** Names a version of a key. */
export function nameOf({ keyId, version }: { readonly keyId: string; readonly version: number }): string {
  return `${keyId} ${version}`;
}

/** Notes and counts, in memory, what the calls of one thread use. Times are milliseconds since the epoch. */
export class UseNotes implements UsageRecorder {
  readonly #noteUse: (key: KeyRecord, at: number) => void;
  #seen = new Map<string, SeenClient>();
  readonly #networks = new CallerNetworks();
  readonly #libraries = new UsedLibraries();
  readonly #requests = new RequestCounter();
  readonly #tokens: TokenCounter;

  /** @param noteUse notes when a key was last used, in the index of the thread */
  constructor(noteUse: (key: KeyRecord, at: number) => void, countTokens: CountTokens) {
    this.#noteUse = noteUse;
    this.#tokens = new TokenCounter(countTokens);
  }

  record(key: KeyRecord, at: number, caller: Caller): void {
    this.#noteUse(key, at);
    if (key.versionState === "retiring") this.#noteCaller(key, caller);
    this.#networks.note(key, at, caller);
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

  /** Takes what was noted and counted since the last time; undefined if there is nothing. */
  drain(): UsageReport | undefined {
    const report = {
      seen: this.#seen,
      requests: this.#requests.drain(),
      tokens: this.#tokens.drain(),
      networks: this.#networks.drain(),
      libraries: this.#libraries.drain(),
    };
    this.#seen = new Map();
    const { seen, requests, tokens, networks, libraries } = report;
    const size = seen.size + requests.size + tokens.size + networks.length + libraries.length;
    return size === 0 ? undefined : report;
  }

  /** Notes the client of a retiring version: such clients have to be found before the version ends. */
  #noteCaller(key: KeyRecord, caller: Caller): void {
    // Both are made when they are asked for: nearly no request needs them.
    const userAgent = caller.headers["user-agent"]?.slice(0, MAX_USER_AGENT);
    this.#seen.set(nameOf(key), { address: clientAddress(caller), ...(userAgent !== undefined && { userAgent }) });
  }
}
