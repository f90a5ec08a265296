import {
  callerNetwork,
  INTROSPECTION,
  MAX_CALLER_NETWORKS,
  UNKNOWN_NETWORK,
} from "../../domain/access/caller-network.ts";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { NotedNetwork } from "../../store/keys/uses/key-networks.ts";
import { KeyRow } from "../key-index/key-row.ts";
import { KeysOfDay } from "./keys-of-day.ts";
import type { Caller } from "./usage-recorder.ts";
import type { OfTeam } from "./waiting-notes.ts";

/** The callers of a key on a day. The last address is in memory alone. */
type Callers = { last: string | undefined; readonly networks: string[] };

/**
 * Notes from which networks keys are called, each once a day. A request costs one look-up by its key's row if its
 * address is that of the key's last request.
 */
export class CallerNetworks {
  readonly #keys = new KeysOfDay<Callers>(() => ({ last: undefined, networks: [] }));
  #drained: OfTeam<NotedNetwork>[] = [];

  /**
   * Notes the caller of a request that was let through. Requests with a placeholder key are not noted.
   *
   * @param at milliseconds since the epoch, by the database's clock
   */
  note(key: KeyRecord, at: number, { ip = UNKNOWN_NETWORK }: Pick<Caller, "ip">): void {
    if (!(key instanceof KeyRow)) return;
    const callers = this.#keys.find(key, at);
    if (callers.last === ip) return;
    callers.last = ip;
    const most = MAX_CALLER_NETWORKS + Number(callers.networks.includes(INTROSPECTION));
    if (callers.networks.length >= most && ip !== INTROSPECTION) return;
    const network = callerNetwork(ip);
    if (callers.networks.includes(network)) return;
    callers.networks.push(network);
    this.#drained.push({ teamId: key.teamId, keyId: key.keyId, network, day: this.#keys.day });
  }

  /** Takes what was noted since the last time. */
  drain(): OfTeam<NotedNetwork>[] {
    const drained = this.#drained;
    this.#drained = [];
    return drained;
  }
}
