import { isIPv6 } from "node:net";
import { clientAddress } from "../../http/client-address.ts";
import { requestIdOf } from "../../http/request-id.ts";
import type { RefusalEvent } from "./refusal-event.ts";

const MINUTE_MS = 60_000;

/** Returns the number of the minute that a time in milliseconds is in. */
export function minuteOf(at: number): number {
  return Math.floor(at / MINUTE_MS);
}

/** Refusals of one cause, route, network and key within one minute: one row of the audit log. */
export type RefusalRow = {
  /** First of the refusals, with the key of all as long as there is space for a row of each key (threats b281). */
  readonly first: Omit<RefusalEvent, "client" | "until">;
  readonly minute: number;
  /** Address of the client that was refused first. */
  readonly address: string;
  readonly network: string;
  /** Request id of the first refusal. */
  readonly requestId: string;
  /** Number of refusals so far. */
  count: number;
  /** Time from which on the last of them has capacity in a limit of tokens; undefined for any other limit. */
  until: number | undefined;
};

/** Rows by the id of the key, or the principal, that was refused; undefined if neither is known. */
type ByKey = Map<string | undefined, RefusalRow>;

/** Rows of the present minute, bounded. A flood costs a look-up in four maps for each refusal. */
export class RefusalRows {
  readonly #max: number;
  #minute = Number.NaN;
  #kept = 0;
  #keptOf = new Map<string, number>();
  /** Number of rows by cause and team. */
  #keptOfTeam = new Map<string, Map<string | null, number>>();
  /** Last address and its network: a refusal that comes again over one connection works nothing out anew. */
  #last = { address: "", key: "" };
  /** Rows by cause, route and network. */
  #rows = new Map<string, Map<string | undefined, Map<string, ByKey>>>();

  /** @param max rows in a minute */
  constructor(max: number) {
    this.#max = max;
  }

  /**
   * Counts a refusal in its row.
   *
   * @returns the row if it is a new one; true if it was there; false if there is no space for it
   */
  add(refusal: RefusalEvent): RefusalRow | boolean {
    const { at, cause, route } = refusal;
    const minute = minuteOf(at);
    if (minute !== this.#minute) this.#begin(minute);
    const byNetwork = this.#rows.get(cause)?.get(route);
    if (byNetwork === undefined && !this.#hasCapacity(cause)) return false;
    const address = clientAddress(refusal.client);
    if (address !== this.#last.address) this.#last = { address, key: networkKey(address) };
    const { key } = this.#last;
    const byKey = byNetwork?.get(key);
    const known = byKey && this.#rowAmong(byKey, refusal);
    if (known !== undefined) {
      known.count++;
      if (refusal.until !== undefined) known.until = Math.max(known.until ?? 0, refusal.until);
      return true;
    }
    if (!this.#hasCapacity(cause)) return false;
    const { client, until, ...first } = refusal;
    const requestId = requestIdOf(client.raw);
    const row = { first, minute, address, network: networkOf(address), requestId, count: 1, until };
    this.#keep(row, key);
    return row;
  }

  #begin(minute: number): void {
    this.#minute = minute;
    this.#kept = 0;
    this.#keptOf = new Map();
    this.#keptOfTeam = new Map();
    this.#rows = new Map();
  }

  /**
   * Returns the row of a key, or the first row of its network if there is no space for one more; undefined if a new row
   * is to be made.
   */
  #rowAmong(byKey: ByKey, { cause, teamId, keyId, principal }: RefusalEvent): RefusalRow | undefined {
    const own = byKey.get(keyId ?? principal);
    if (own !== undefined) return own;
    // Of what is left to a cause no team takes more than half: one with many keys hides those of no other.
    const ofTeam = this.#keptOfTeam.get(cause)?.get(teamId) ?? 0;
    if (ofTeam < this.#leftTo(cause) / 2) return undefined;
    const [first] = byKey.values();
    return first;
  }

  #hasCapacity(cause: string): boolean {
    return this.#leftTo(cause) > 0;
  }

  /**
   * Returns how many rows a cause may still have. No cause takes more than half of what the others leave: a flood of
   * one kind, or of many, hides no other.
   */
  #leftTo(cause: string): number {
    return (this.#max - this.#kept) / 2 - (this.#keptOf.get(cause) ?? 0);
  }

  #keep(row: RefusalRow, key: string): void {
    const { cause, route, teamId, keyId, principal } = row.first;
    this.#kept++;
    this.#keptOf.set(cause, (this.#keptOf.get(cause) ?? 0) + 1);
    const ofTeams = entryOf(this.#keptOfTeam, cause, () => new Map<string | null, number>());
    ofTeams.set(teamId, (ofTeams.get(teamId) ?? 0) + 1);
    const byRoute = entryOf(this.#rows, cause, () => new Map<string | undefined, Map<string, ByKey>>());
    const byNetwork = entryOf(byRoute, route, () => new Map<string, ByKey>());
    entryOf(byNetwork, key, (): ByKey => new Map()).set(keyId ?? principal, row);
  }
}

/** Returns what a map has for a key, which is made and added if there is nothing. */
function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

/**
 * Returns a text that stands for the network of an address in a map: for IPv4 as cheap as can be, since a flood asks
 * for each.
 */
function networkKey(address: string): string {
  const last = address.lastIndexOf(".");
  return last === -1 ? networkOf(address) : address.slice(0, last);
}

/** Returns the network that a single client may well have all of: a /24 of IPv4, a /64 of IPv6. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  if (!isIPv6(mapped)) {
    const last = mapped.lastIndexOf(".");
    return last === -1 ? mapped : `${mapped.slice(0, last)}.0/24`;
  }
  const [head = "", tail] = mapped.replace(/%.*$/, "").split("::");
  const [first, rest] = [groupsOf(head), groupsOf(tail ?? "")];
  const groups =
    tail === undefined ? first : [...first, ...Array(Math.max(0, 8 - first.length - rest.length)).fill("0"), ...rest];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/**
 * Splits a part of an IPv6 address into its groups. An IPv4 address at the end stands for two groups, neither of which
 * is among the first four.
 */
function groupsOf(text: string): string[] {
  return text === "" ? [] : text.split(":").flatMap((group) => (group.includes(".") ? ["0", "0"] : [group]));
}
