import { setTimeout as delay } from "node:timers/promises";
import { UNSTORED_VERSION } from "../../domain/access/key-record.ts";
import { DatabaseUnavailableError } from "../../store/database/errors.ts";
import { findSecrets } from "../../store/keys/events/key-leaks.ts";
import { minuteOf, networkOf } from "../auth/refusals/refusal-rows.ts";
import type { ServerDeps } from "../product/deps.ts";
import { actOnLeak } from "./act.ts";
import type { CountLeak } from "./metrics.ts";
import { MAX_LEAKS, readReport } from "./report.ts";

/** Room for as many of the longest keys as are looked at; a larger body is not parsed. In bytes. */
const MAX_BODY = 64 << 10;
/** Keys of ours that one network may report in a minute: one key's worth of work each. */
const MAX_PER_NETWORK = 100;
/** Keys that wait to be acted on, in one thread. */
const MAX_PENDING = 1_000;
const RETRY_MS = 1_000;

/** What reports are judged by. */
type Deps = Pick<ServerDeps, "store" | "index" | "clock" | "log">;
type Pending = { readonly digest: string; readonly address: string };

/**
 * Acts on the reports of unauthenticated callers, after they were answered. A text that is no key of ours costs what a
 * request with it would: a look-up in the index. A key of ours is acted on once a minute, and a bounded number of keys
 * for each network: more is dropped, and counted. While the database is away, keys wait here.
 */
export class UnsignedReports {
  readonly #deps: Deps;
  readonly #count: CountLeak;
  readonly #ending = new AbortController();
  #pending: Pending[] = [];
  #running: Promise<void> | undefined;
  #minute = Number.NaN;
  /** Of this minute. */
  #seen = new Set<string>();
  #ofNetwork = new Map<string, number>();

  constructor(deps: Deps, count: CountLeak) {
    this.#deps = deps;
    this.#count = count;
  }

  /** Looks at the first keys of a report. A bare hash is not acted on: it does not show that a secret has leaked. */
  take(body: unknown, address: string): void {
    if (Buffer.isBuffer(body) && body.length > MAX_BODY) {
      this.#count("anonymous", "dropped");
      return;
    }
    const leaks = readReport(body)?.leaks.slice(0, MAX_LEAKS) ?? [];
    for (const { digest, isWhole } of leaks) {
      if (digest === undefined || !isWhole || !this.#mayBeOurs(digest)) this.#count("anonymous", "unknown");
      else this.#add({ digest, address });
    }
  }

  /** Acts on what there is, unless the database is away. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  /** While the index is not current, the database is asked. */
  #mayBeOurs(digest: string): boolean {
    const { index } = this.#deps;
    const found = index.findKey(digest);
    return found === undefined ? !index.isCurrent() : found.version !== UNSTORED_VERSION;
  }

  #add(report: Pending): void {
    const minute = minuteOf(this.#deps.clock.now());
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#seen = new Set();
      this.#ofNetwork = new Map();
    }
    if (this.#seen.has(report.digest)) return;
    const network = networkOf(report.address);
    const ofNetwork = this.#ofNetwork.get(network) ?? 0;
    if (ofNetwork >= MAX_PER_NETWORK || this.#pending.length >= MAX_PENDING) {
      this.#count("anonymous", "dropped");
      return;
    }
    this.#ofNetwork.set(network, ofNetwork + 1);
    this.#seen.add(report.digest);
    this.#pending.push(report);
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  async #run(): Promise<void> {
    for (let next = this.#pending[0]; next !== undefined; next = this.#pending[0]) {
      try {
        await this.#act(next);
        this.#pending.shift();
      } catch (error) {
        const isAway = error instanceof DatabaseUnavailableError;
        const waits = isAway && !this.#ending.signal.aborted;
        this.#deps.log.warn({ error }, `a reported leak was not acted on${waits ? " yet" : ""}`);
        if (waits) await delay(RETRY_MS, undefined, { signal: this.#ending.signal, ref: false }).catch(() => {});
        // Each question may take as long as the database is given to answer: the end waits for one of them at most.
        else this.#drop(isAway ? this.#pending.length : 1);
      }
    }
  }

  /** Drops the first of those that wait. */
  #drop(count: number): void {
    for (const _ of this.#pending.splice(0, count)) this.#count("anonymous", "dropped");
  }

  async #act({ digest, address }: Pending): Promise<void> {
    const { store } = this.#deps;
    const [secret] = await findSecrets(store.db, [digest]);
    if (secret === undefined) return this.#count("anonymous", "unknown");
    const by = { actor: "anonymous", address };
    const { outcome } = await actOnLeak(store, secret, { reporter: "anonymous", by });
    this.#count("anonymous", outcome);
  }
}
