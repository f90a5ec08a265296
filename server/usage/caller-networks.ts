import { callerNetwork, MAX_CALLER_NETWORKS } from "../../domain/access/caller-network.ts";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import { DAY_MS } from "../../domain/duration.ts";
import { rfc3339 } from "../../domain/rfc3339.ts";
import type { NotedNetwork } from "../../store/keys/key-networks.ts";
import { KeyRow } from "../key-index/key-row.ts";
import type { Consumer } from "./usage-recorder.ts";

/** More keys than one thread lets in on a day are not noted: some 40 MB at most. */
const MAX_KEYS = 1 << 18;

/** The callers of a key on a day. The last address is in memory alone. */
type Callers = { last: string; readonly networks: string[] };

/**
 * Notes from which networks keys are called, each once a day. A request costs one look-up by its key's row where its
 * address is that of the key's last request.
 */
export class CallerNetworks {
  /** By the row of the key, for one table of rows and one day. */
  readonly #keys = new Map<number, Callers>();
  #generation = -1;
  #day = Number.NaN;
  #drained: NotedNetwork[] = [];

  /**
   * Notes the caller of a request that was let through. Those with a placeholder key are not noted.
   *
   * @param at milliseconds since the epoch, by the database's clock
   */
  note(key: KeyRecord, at: number, { ip }: Pick<Consumer, "ip">): void {
    if (!(key instanceof KeyRow)) return;
    if (key.generation !== this.#generation || !(at >= this.#day && at < this.#day + DAY_MS)) {
      this.#begin(key.generation, at);
    }
    const known = this.#keys.get(key.row);
    if (known?.last === ip) return;
    this.#noteChanged(key, known, ip);
  }

  /** Takes what was noted since the last time. */
  drain(): NotedNetwork[] {
    const drained = this.#drained;
    this.#drained = [];
    return drained;
  }

  #begin(generation: number, at: number): void {
    this.#keys.clear();
    this.#generation = generation;
    this.#day = Math.floor(at / DAY_MS) * DAY_MS;
  }

  #noteChanged({ row, keyId }: KeyRow, known: Callers | undefined, ip: string): void {
    if (known === undefined && this.#keys.size >= MAX_KEYS) return;
    const callers = known ?? { last: ip, networks: [] };
    if (known === undefined) this.#keys.set(row, callers);
    else callers.last = ip;
    if (callers.networks.length >= MAX_CALLER_NETWORKS) return;
    const network = callerNetwork(ip);
    if (network === undefined || callers.networks.includes(network)) return;
    callers.networks.push(network);
    this.#drained.push({ keyId, network, day: rfc3339(this.#day).slice(0, 10) });
  }
}
