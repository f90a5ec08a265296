import { Pool } from "undici";

/** Milliseconds. */
const TICK = 5;
/** Requests that may wait for an answer; more would only wait too. */
const OUTSTANDING = 64;
/** Refusals in a row after which a key is taken to be refused for good. It is still asked for now and then. */
const ENOUGH_REFUSALS = 3;

/** What became of one key on one replica. Times in milliseconds since the prober's process began. */
type Watch = { lastAccept: number; refusals: number };

/**
 * Asks one replica for an answer that it gives by itself, so many times a second, in turn with the keys that are being
 * revoked at the time; with none, with those that were revoked before.
 */
export class Prober {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #watched = new Map<string, Watch>();
  readonly #dead: string[] = [];
  readonly #lastAccepts = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #due = performance.now();
  #turn = 0;
  #outstanding = 0;
  /** Answers so far by their status; those that broke are 0. */
  readonly answers = new Map<number, number>();

  constructor(url: string, path: string, perSecond: number) {
    this.#pool = new Pool(url, { connections: OUTSTANDING });
    this.#path = path;
    this.#timer = setInterval(() => {
      for (; this.#due <= performance.now(); this.#due += 1_000 / perSecond) {
        if (this.#outstanding < OUTSTANDING) void this.#ask(this.#next());
      }
    }, TICK);
  }

  /** From now on this key is asked with, until it is refused. */
  watch(key: string): void {
    this.#watched.set(key, { lastAccept: Number.NaN, refusals: 0 });
  }

  /** The keys that are not known to be refused. */
  get watched(): number {
    return this.#watched.size;
  }

  /** When the last answer came that let this key through. NaN: there was none. */
  lastAccept(key: string): number {
    return this.#lastAccepts.get(key) ?? Number.NaN;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#pool.destroy();
  }

  #next(): string | undefined {
    const turn = this.#turn++;
    const keys = this.#watched.size > 0 ? [...this.#watched.keys()] : this.#dead;
    return keys[turn % keys.length];
  }

  async #ask(key: string | undefined): Promise<void> {
    if (key === undefined) return;
    this.#outstanding++;
    try {
      const headers = { authorization: `Bearer ${key}` };
      const { statusCode, body } = await this.#pool.request({ method: "GET", path: this.#path, headers });
      this.#note(key, statusCode, performance.now());
      await body.dump();
    } catch {
      this.#note(key, 0, 0);
    } finally {
      this.#outstanding--;
    }
  }

  #note(key: string, status: number, at: number): void {
    this.answers.set(status, (this.answers.get(status) ?? 0) + 1);
    if (status === 200) this.#lastAccepts.set(key, at);
    const watch = this.#watched.get(key);
    if (watch === undefined) return;
    if (status === 200) watch.refusals = 0;
    if (status !== 401 || ++watch.refusals < ENOUGH_REFUSALS) return;
    this.#watched.delete(key);
    this.#dead.push(key);
  }
}
