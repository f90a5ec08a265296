import type { GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import type { MemberToken } from "../../domain/access/membership.ts";
import type { RateVerdict } from "../../domain/access/rate-limit.ts";
import type { OwnedRate } from "./index-tables.ts";

/** Index of this replica, as decisions read it. Every method is synchronous and answers from memory. */
export type KeyIndexView = {
  /** True if this replica can prove now that it has missed no revocation (architecture §3). False means 503. */
  isCurrent(): boolean;
  /** Returns the key version whose secret has this SHA-256 digest, as 32 latin1 characters; a revoked version too. */
  findKey(digest: string): KeyRecord | undefined;
  findGateway(publicId: string): GatewayRecord | undefined;
  /** Returns the public id of a gateway; undefined if it is gone. */
  publicIdOf(gatewayId: string): string | undefined;
  /**
   * Returns what the bearer of a token may do, for each requested team that they are a member of.
   *
   * @param named the id or the name of a team; null for any
   */
  findMember(token: MemberToken, named: string | null): readonly KeyRecord[];
  /** Returns what a version that was found before is now; undefined if the index has it no more. */
  findPresent(record: KeyRecord): KeyRecord | undefined;
  /** Returns the seq of the last change applied. */
  lastSeq(): number;
  /**
   * Judges a request by several rate limits, and charges it to each if all admit it.
   *
   * @param now nanoseconds on the monotonic clock
   * @returns the verdict of each limit, in their order
   */
  chargeRates(rates: readonly OwnedRate[], now: number): readonly RateVerdict[];
  /** Returns what `chargeRates` would return, and charges nothing. */
  judgeRates(rates: readonly OwnedRate[], now: number): readonly RateVerdict[];
  /** Charges what was used already, even if nothing is left of the limit: later requests wait until it is paid. */
  chargeUsed(rate: OwnedRate, now: number): void;
  /**
   * Takes back `unpaid` nanoseconds of a request that was charged at `chargedAt`; nothing of what was charged only
   * since.
   */
  refundRate(rate: OwnedRate, unpaid: number, chargedAt: number): void;
  /** True if keys of another shape than the minted one exist: only then are such keys looked up. */
  acceptsImportedFormat(): boolean;
};
