import type { GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import type { MemberToken } from "../../domain/access/membership.ts";
import type { RateVerdict } from "../../domain/access/rate-limit.ts";
import type { OwnedRate } from "./index-tables.ts";

/** What a decision reads of this replica's index. Every method is synchronous and answers from memory. */
export type KeyIndexView = {
  /** Whether this replica can prove now that it has missed no revocation (architecture §3). False means 503. */
  isCurrent(): boolean;
  /** The key version whose secret has this SHA-256 digest, as 32 latin1 characters; revoked ones too. */
  findKey(digest: string): KeyRecord | undefined;
  findGateway(publicId: string): GatewayRecord | undefined;
  /** The public id of a gateway; undefined where it is gone. */
  publicIdOf(gatewayId: string): string | undefined;
  /**
   * What the bearer of a token may do, for each team that is meant and that they are a member of.
   *
   * @param named the id or the name of a team; null for any
   */
  findMember(token: MemberToken, named: string | null): readonly KeyRecord[];
  /** What a version that was found before is now; undefined where the index has it no more. */
  findPresent(record: KeyRecord): KeyRecord | undefined;
  /** The seq of the last change applied. */
  lastSeq(): number;
  /**
   * Judges a request by several rate limits, and charges it to each where all admit it.
   *
   * @param now nanoseconds on the monotonic clock
   * @returns what it meets at each, in their order
   */
  chargeRates(rates: readonly OwnedRate[], now: number): readonly RateVerdict[];
  /** What `chargeRates` would say, charged to none. */
  judgeRates(rates: readonly OwnedRate[], now: number): readonly RateVerdict[];
  /** Charges what was used already, also where nothing is left of the limit: later requests wait until it is paid. */
  chargeUsed(rate: OwnedRate, now: number): void;
  /** Takes back so many nanoseconds of a request that was charged at a time; nothing of what was charged only since. */
  refundRate(rate: OwnedRate, unpaid: number, chargedAt: number): void;
  /** Whether keys of another shape than the minted one exist: only then are such looked up. */
  acceptsImportedFormat(): boolean;
};
