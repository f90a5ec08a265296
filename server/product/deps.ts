import type { IncomingMessage } from "node:http";
import type { GatewayRecord, KeyRecord } from "../../domain/access/key-record.ts";
import type { MemberToken } from "../../domain/access/membership.ts";
import type { OperationName } from "../../domain/access/operations.ts";
import type { RateVerdict } from "../../domain/access/rate-limit.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log.ts";
import type { Store } from "../../store/database/store.ts";
import type { Keyring } from "../../store/keyring.ts";
import type { ManagementToken } from "../auth/management/management-token.ts";
import type { JudgeJwt } from "../auth/tokens/jwt.ts";
import type { BodyBound, BodyHolder } from "../calls/body-room.ts";
import type { ServerConfig } from "../context/config.ts";
import type { QuestionEmbedder } from "../embedding/question.ts";
import type { AnswerRoom } from "../http/answers/answer-room.ts";
import type { ServerMetrics } from "../metrics.ts";

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
   * Judges a request by its key's rate limit, and charges it when it is admitted; undefined for a key without one.
   *
   * @param now nanoseconds on the monotonic clock
   */
  chargeRequest(key: KeyRecord, now: number): RateVerdict | undefined;
  /** Whether keys of another shape than the minted one exist: only then are such looked up. */
  acceptsImportedFormat(): boolean;
};

/**
 * Why a call is broken off: its key may no longer be used, nothing proves any more that it may be, its body does not
 * come, its body has been waited for the longest while all bodies have no more room, or this server stops.
 */
export type CutCause = "key_ended" | "stale_index" | "slow_body" | "no_room" | "stopping";

/** A request's body, which is kept as it comes. */
export type OpenBody = {
  /**
   * Notes that so many bytes more of it are kept, until the end.
   *
   * @returns whose bound they would break, and then they are not to be kept; undefined for none
   */
  keep(bytes: number): BodyBound | undefined;
  /** Its call has ended: nothing of it is kept any more. */
  end(): void;
};

/** A call that is watched from its head on, with its body. */
export type OpenCall = OpenBody & {
  /**
   * Called once, when the call is to be broken off. A handler that takes the call over replaces it with its own.
   */
  onCut: (cause: CutCause) => void;
  /** Called once, when the call has ended without having been broken off. The handler replaces this one likewise. */
  onEnd: () => void;
};

/** What open calls take of this process. */
export type CallFigures = {
  readonly calls: number;
  /** Of bodies that are kept. */
  readonly keptBytes: number;
  readonly refusedCalls: number;
  readonly refusedBodies: number;
};

export type OpenStreams = {
  /** Whether a key may have one call more under way. */
  hasRoom(key: KeyRecord): boolean;
  figures(): CallFigures;
  /**
   * Watches a call, which outlives its decision. It is cut when the key's version stops being usable (by the feed at
   * once, by expiry within a second), when the lease runs out, and when its body does not come.
   *
   * @param request where its body may be waited for
   */
  track(key: KeyRecord, onCut: (cause: CutCause) => void, request?: IncomingMessage): OpenCall;
  /**
   * Makes room for the body of a request that no key stands for.
   *
   * @param holder whose it is, in the place of a key and its team
   * @param answer answers the request, where its body has to make way for another
   */
  openBody(holder: BodyHolder, request: IncomingMessage, answer: () => void): OpenBody;
  /**
   * Cuts the calls whose bodies come too slowly.
   *
   * @param now milliseconds on the monotonic clock
   */
  cutSlowBodies(now: number): void;
};

/** Who makes a request, as far as the network says; a Fastify request is one. */
export type Consumer = { readonly ip: string; readonly headers: { readonly "user-agent"?: string | undefined } };

export type UsageRecorder = {
  /** Notes that a key was used: one store in memory, written to the database in batches. */
  record(key: KeyRecord, at: number, consumer: Consumer): void;
  /** Counts a request that was let through to an operation: likewise. */
  countRequest(key: KeyRecord, operation: OperationName, at: number): void;
};

/** A request that was refused, for the audit log. */
export type RefusalEvent = {
  /** Where it came from: read only where it is kept, since a request works its address out when it is asked. */
  readonly client: { readonly ip: string; readonly raw: IncomingMessage };
  readonly at: number;
  readonly code: string;
  readonly cause: string;
  /** The last change that the index had applied. */
  readonly seq: number;
  readonly route: string | undefined;
  readonly keyId: string | null;
  readonly teamId: string | null;
  /** Who was refused by the management API, where it knows them. */
  readonly principal?: string | undefined;
};

export type RefusalRecorder = {
  /** Takes a refusal for the audit log, off the request's path; samples, and counts what it has to drop. */
  record(refusal: RefusalEvent): void;
};

/** All that the server's parts are given. */
export type ServerDeps = {
  readonly store: Store;
  /** Seals and opens the providers' credentials. */
  readonly keyring: Keyring;
  readonly index: KeyIndexView;
  readonly streams: OpenStreams;
  readonly answers: AnswerRoom;
  readonly usage: UsageRecorder;
  readonly refusals: RefusalRecorder;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ServerMetrics;
  readonly config: ServerConfig;
  /** Embeds the questions of searches. */
  readonly questions: QuestionEmbedder;
  /** The token that opens the management API; null where the installation has none. */
  readonly managementToken: ManagementToken | null;
  /** Judges issuers' tokens, which open the same API and the memory over MCP; null where no issuer is trusted. */
  readonly judgeJwt: JudgeJwt | null;
};
