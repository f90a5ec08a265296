import { setTimeout as delay } from "node:timers/promises";
import { UNSTORED_VERSION } from "../../domain/access/key-record.ts";
import { DatabaseUnavailableError } from "../../store/database/errors.ts";
import { findSecrets } from "../../store/keys/events/key-leaks.ts";
import { minuteOf, networkOf } from "../auth/refusals/refusal-rows.ts";
import type { ServerDeps } from "../product/deps.ts";
import { actOnLeak } from "./act.ts";
import type { CountLeak } from "./metrics.ts";
import { MAX_LEAKS, readReport } from "./report.ts";

/** Maximum bytes of a body that is parsed: enough for {@link MAX_LEAKS} of the longest keys. */
const MAX_BODY = 64 << 10;
/** Keys of this installation that a network may report in a minute: the work for each is that of one key. */
const MAX_PER_NETWORK = 100;
/** Maximum number of keys that wait to be acted on, in a thread. */
const MAX_PENDING = 1_000;
const RETRY_MS = 1_000;

/** Dependencies that reports are checked with. */
type Deps = Pick<ServerDeps, "store" | "index" | "clock" | "log">;
type Pending = { readonly digest: string; readonly address: string };

/**
 * Acts on the reports of unauthenticated callers, after they were answered. A text that is no key of this installation
 * costs as much as a request with it: a look-up in the index. A key is acted on once a minute, and the number of keys
 * for each network is bounded: more are dropped, and counted. While the database is away, keys wait here.
 */
export class UnsignedReports {
  readonly #deps: Deps;
  readonly #count: CountLeak;
  readonly #ending = new AbortController();
  #pending: Pending[] = [];
  #running: Promise<void> | undefined;
  #minute = Number.NaN;
  /** Digests of the keys that were reported in this minute. */
  #seen = new Set<string>();
  #ofNetwork = new Map<string, number>();

  constructor(deps: Deps, count: CountLeak) {
    this.#deps = deps;
    this.#count = count;
  }

  /** Looks up the first keys of a report. A bare hash is not acted on: it does not show that a secret has leaked. */
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

  /** Acts on the keys that wait, unless the database is away. */
  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  /** True if the index has the key, or is not current, so that the database has to be asked. */
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
        // Each query may last until the database's timeout: closing waits for one of them at most.
        else this.#drop(isAway ? this.#pending.length : 1);
      }
    }
  }

  /** Drops the first of the keys that wait. */
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
