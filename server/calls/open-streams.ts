import type { IncomingMessage } from "node:http";
import { getHeapStatistics } from "node:v8";
import type { KeyRecord } from "../../domain/access/key-record.ts";
import { unusableBecause } from "../../domain/access/key-state.ts";
import type { LimitOwner } from "../../domain/access/rate-limit.ts";
import type { BodyBound, BodyHolder } from "./body-budget.ts";
import { BodyPace } from "./body-pace.ts";
import { CallCounts } from "./call-counts.ts";
import type { CallFigures, CutCause, OpenBody, OpenCall, OpenStreams } from "./calls.ts";
import { KeptBodies, KeptBody } from "./kept-bodies.ts";
import { KeylessBody } from "./keyless-body.ts";
import { LocalCalls } from "./local-calls.ts";
import type { SharedCalls } from "./shared-calls.ts";

/** Limits of what open calls may take of this process: of each thread, if there are several. */
export type CallLimits = {
  /** Calls under way of one key that declares no bound of its own. */
  readonly callsPerKey: number;
  /** Bytes of bodies that are kept. */
  readonly kept: number;
};

export const CALL_LIMITS: CallLimits = {
  callsPerKey: 256,
  kept: Math.floor(getHeapStatistics().heap_size_limit / 4),
};

const ignore = (): void => {};
const NO_OWNERS: readonly string[] = [];
const NO_BOUNDS: ReturnType<typeof boundsOf> = [];

/** A call that is open, and the version of a key that it was let through with. */
class TrackedCall extends KeptBody implements OpenCall {
  record: KeyRecord;
  onCut: (cause: CutCause) => void;
  #onEnd = ignore;
  request: IncomingMessage | undefined;
  /** Position on the list of all calls. */
  position = 0;
  /** Ids of the owners that it is counted for, over all threads. */
  countedFor: readonly string[] = NO_OWNERS;
  /** Team at the time when it was let through: a key may be another team's by its end. */
  readonly teamId: string;
  readonly #registry: StreamRegistry;

  constructor(registry: StreamRegistry, record: KeyRecord, onCut: TrackedCall["onCut"], request?: IncomingMessage) {
    super();
    this.#registry = registry;
    this.record = record;
    this.teamId = record.teamId;
    this.onCut = onCut;
    this.request = request;
  }

  get holder(): BodyHolder {
    return this.record;
  }

  get isAwaited(): boolean {
    return this.request?.complete === false;
  }

  keep(bytes: number): BodyBound | undefined {
    return this.#registry.keep(this, bytes);
  }

  countFor(owner: string, limit: number): boolean {
    return this.#registry.countFor(this, owner, limit);
  }

  takeOver(onCut: (cause: CutCause) => void, onEnd = this.#onEnd): void {
    this.onCut = onCut;
    this.#onEnd = onEnd;
  }

  evict(): void {
    this.#registry.cut(this, "no_room");
  }

  end(): void {
    const onEnd = this.#onEnd;
    if (this.#registry.remove(this)) onEnd();
  }
}

/**
 * The open calls of this replica, each from its head on: cut when the key they were let through with stops being
 * usable. They stand in a list in any order, and not in a Set: with a Set, to which each request adds one, a part of
 * what requests allocate was seen to outlive them until the whole heap was collected (docs/performance.md).
 */
export class StreamRegistry implements OpenStreams {
  readonly #calls: TrackedCall[] = [];
  readonly #perKey = new CallCounts(this.#calls, ({ record }) => record.keyId);
  readonly #perTeam = new CallCounts(this.#calls, ({ teamId }) => teamId);
  readonly #pace = new BodyPace();
  /** Requests without a key whose bodies are awaited, and what answers each. */
  readonly #keyless = new Map<IncomingMessage, () => void>();
  readonly #onKeyEnded: () => void;
  readonly #callsPerKey: number;
  readonly #shared: SharedCalls | null;
  /** Counts by an owner's id: of the calls of owners that no list has. */
  readonly #counts: Pick<SharedCalls, "take" | "giveBack">;
  readonly #bodies: KeptBodies;
  #refusedCalls = 0;

  /**
   * @param onKeyEnded called for every call that is cut because its key has ended
   * @param shared given if several threads serve: counts the calls of keys and teams that declare a bound
   */
  constructor(
    onKeyEnded: () => void,
    { callsPerKey, kept }: CallLimits = CALL_LIMITS,
    shared: SharedCalls | null = null,
  ) {
    this.#onKeyEnded = onKeyEnded;
    this.#shared = shared;
    this.#counts = shared ?? new LocalCalls();
    this.#callsPerKey = callsPerKey;
    this.#bodies = new KeptBodies(kept);
  }

  get size(): number {
    return this.#calls.length;
  }

  figures(): CallFigures {
    return {
      calls: this.#calls.length,
      keptBytes: this.#bodies.held,
      refusedCalls: this.#refusedCalls,
      refusedBodies: this.#bodies.refused,
    };
  }

  fullOf(key: KeyRecord): LimitOwner | undefined {
    const full = this.#fullHere(key) ?? this.#fullOverall(key);
    if (full !== undefined) this.#refusedCalls++;
    return full;
  }

  #fullHere(key: KeyRecord): LimitOwner | undefined {
    const limit = key.concurrent ?? this.#callsPerKey;
    // One key cannot have more calls than all together: most calls are never counted by key.
    if (this.#calls.length >= limit && this.#perKey.countOf(key.keyId) >= limit) return "key";
    const ofTeam = key.teamLimits?.concurrent ?? null;
    if (ofTeam === null || this.#calls.length < ofTeam || this.#perTeam.countOf(key.teamId) < ofTeam) return undefined;
    return "team";
  }

  #fullOverall(key: KeyRecord): LimitOwner | undefined {
    const shared = this.#shared;
    if (shared === null) return undefined;
    return boundsOf(key).find(({ id, limit }) => shared.countOf(id) >= limit)?.of;
  }

  /**
   * Counts a call over all threads, for each owner that declares a bound. Returns the owner that has no call left, if
   * there is one, and then it is counted for none.
   */
  #takeOverall(key: KeyRecord): readonly string[] | LimitOwner {
    const shared = this.#shared;
    if (shared === null) return NO_OWNERS;
    const bounds = boundsOf(key);
    const full = bounds.findIndex(({ id, limit }) => !shared.take(id, limit));
    if (full === -1) return bounds.length === 0 ? NO_OWNERS : bounds.map(({ id }) => id);
    for (const { id } of bounds.slice(0, full)) shared.giveBack(id);
    return bounds[full]?.of ?? "key";
  }

  /** Counts a call for one more owner; see {@link OpenCall.countFor}. */
  countFor(call: TrackedCall, owner: string, limit: number): boolean {
    // A call that has ended gives nothing back any more.
    if (this.#calls[call.position] !== call) return true;
    const isCounted = this.#counts.take(owner, limit);
    if (isCounted) call.countedFor = [...call.countedFor, owner];
    else this.#refusedCalls++;
    return isCounted;
  }

  /** Notes that bytes of a call's body are kept; see {@link OpenBody.keep}. */
  keep(call: TrackedCall, bytes: number): BodyBound | undefined {
    // A call that has been cut keeps nothing.
    return this.#calls[call.position] === call ? this.#bodies.keep(call, bytes) : "process";
  }

  openBody(holder: BodyHolder, request: Pick<IncomingMessage, "complete">, answer: () => void): OpenBody {
    return new KeylessBody(this.#bodies, holder, request, answer);
  }

  awaitBody(request: IncomingMessage, answer: () => void): () => void {
    this.#keyless.set(request, answer);
    return () => this.#keyless.delete(request);
  }

  track(key: KeyRecord, onCut: (cause: CutCause) => void, request?: IncomingMessage): OpenCall | LimitOwner {
    const taken = this.#fullHere(key) ?? this.#takeOverall(key);
    if (typeof taken === "string") {
      this.#refusedCalls++;
      return taken;
    }
    return this.#add(new TrackedCall(this, key, onCut, request), taken);
  }

  watch(key: KeyRecord, onCut: (cause: CutCause) => void, request?: IncomingMessage): OpenCall {
    return this.#add(new TrackedCall(this, key, onCut, request), NO_OWNERS);
  }

  #add(call: TrackedCall, countedFor: readonly string[]): OpenCall {
    call.countedFor = countedFor;
    call.position = this.#calls.push(call) - 1;
    this.#perKey.add(call);
    this.#perTeam.add(call);
    return call;
  }

  /** Takes a call out, once: the last call takes its position. Returns false if it was out already. */
  remove(call: TrackedCall): boolean {
    const { position } = call;
    if (this.#calls[position] !== call) return false;
    this.#bodies.release(call);
    this.#perKey.remove(call);
    this.#perTeam.remove(call);
    for (const owner of call.countedFor) this.#counts.giveBack(owner);
    // A call that is old when it ends is collected late: nothing young is to be kept by it until then.
    call.takeOver(ignore, ignore);
    call.request = undefined;
    const last = this.#calls.pop();
    if (last !== undefined && last !== call) {
      this.#calls[position] = last;
      last.position = position;
    }
    return true;
  }

  /**
   * Cuts the calls whose key may not be used any more. Run after each change of the index, and between them for expiry.
   *
   * @param findPresent returns what a key's version is now; undefined if the index has it no more
   * @param now milliseconds since the epoch
   */
  revalidate(findPresent: (record: KeyRecord) => KeyRecord | undefined, now: number): void {
    for (const call of [...this.#calls]) {
      const present = findPresent(call.record);
      if (present !== undefined && unusableBecause(present, now) === undefined) {
        call.record = present;
        continue;
      }
      this.#onKeyEnded();
      this.cut(call, "key_ended");
    }
  }

  cutSlowBodies(now: number): void {
    for (const call of [...this.#calls]) {
      if (call.request !== undefined && this.#pace.isTooSlow(call.request, now)) this.cut(call, "slow_body");
    }
    for (const [request, answer] of this.#keyless) {
      if (!this.#pace.isTooSlow(request, now)) continue;
      this.#keyless.delete(request);
      answer();
    }
  }

  /** Cuts every call: when a lease has run out, and at the end of a drain. */
  cutAll(cause: CutCause): void {
    for (const call of [...this.#calls]) this.cut(call, cause);
  }

  cut(call: TrackedCall, cause: CutCause): void {
    const { onCut } = call;
    this.remove(call);
    onCut(cause);
  }
}

/** Returns the bounds that a key's calls are counted by over all threads. */
function boundsOf(key: KeyRecord): readonly { of: LimitOwner; id: string; limit: number }[] {
  const { concurrent, teamLimits } = key;
  if (concurrent === null && teamLimits === null) return NO_BOUNDS;
  const ofKey = concurrent === null ? [] : [{ of: "key" as const, id: key.keyId, limit: concurrent }];
  if (teamLimits === null || teamLimits.concurrent === null) return ofKey;
  return [...ofKey, { of: "team" as const, id: key.teamId, limit: teamLimits.concurrent }];
}
