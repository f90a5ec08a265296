import { type BodyBound, type BodyHolder, BodyRoom } from "./body-room.ts";

/** Up to so many bytes a body has the reserve beside the room of all. */
const SMALL_BODY = 64 << 10;
/** The reserve's part of what is kept. */
const RESERVE_PART = 1 / 4;

/** A request's body as far as it has come, kept until its call has ended. Its fields are {@link KeptBodies}' to set. */
export abstract class KeptBody {
  abstract readonly holder: BodyHolder;
  /** Whether more of it is to come. */
  abstract readonly isAwaited: boolean;
  bytes = 0;
  /** Where they are; undefined while there are none. */
  room: BodyRoom | undefined = undefined;
  /** On the list of all. */
  bodyPlace = 0;
  /** Counts up: what came later has the greater one. */
  lastCame = 0;

  /** Takes it out for good, and ends its call with an answer: another body needs the room. */
  abstract makeWay(): void;
}

/**
 * What bodies hold of a thread's memory. The first 64 KiB of a body have a reserve of their own and, where its key or
 * team fills its part of that, the room of all; what is larger has the room of all alone. Where a room is full, the body
 * makes way whose next byte has been waited for the longest: one that is whole, and worked on, does not.
 */
export class KeptBodies {
  readonly #bodies: KeptBody[] = [];
  readonly #reserve: BodyRoom;
  readonly #roomOfAll: BodyRoom;
  #came = 0;
  #refused = 0;

  /** @param limit of all bytes that are kept */
  constructor(limit: number) {
    this.#reserve = new BodyRoom(limit * RESERVE_PART, this.#bodies);
    this.#roomOfAll = new BodyRoom(limit - limit * RESERVE_PART, this.#bodies);
  }

  /** In bytes. */
  get held(): number {
    return this.#reserve.held + this.#roomOfAll.held;
  }

  /** Bodies that found no room, or had to make way. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Notes that so many bytes more of a body are kept.
   *
   * @returns whose bound they would break, and then they are not to be kept; undefined for none
   */
  keep(body: KeptBody, bytes: number): BodyBound | undefined {
    const to = body.bytes + bytes;
    const mayReserve = to <= SMALL_BODY && body.room !== this.#roomOfAll;
    if (mayReserve && boundIn(this.#reserve, body, to) === undefined) return this.#put(body, this.#reserve, to);
    if (boundIn(this.#roomOfAll, body, to) === undefined) return this.#put(body, this.#roomOfAll, to);
    if (mayReserve && this.#clear(this.#reserve, body, to) === undefined) return this.#put(body, this.#reserve, to);
    const bound = this.#clear(this.#roomOfAll, body, to);
    if (bound === undefined) return this.#put(body, this.#roomOfAll, to);
    this.#refused++;
    return bound;
  }

  /** Takes a body out, once. */
  release(body: KeptBody): void {
    const { room, bodyPlace } = body;
    if (room === undefined) return;
    room.change(body.holder, -body.bytes);
    body.room = undefined;
    body.bytes = 0;
    const last = this.#bodies.pop();
    if (last !== undefined && last !== body) {
      this.#bodies[bodyPlace] = last;
      last.bodyPlace = bodyPlace;
    }
  }

  #put(body: KeptBody, room: BodyRoom, to: number): undefined {
    if (body.room === undefined) body.bodyPlace = this.#bodies.push(body) - 1;
    if (body.room !== room) {
      body.room?.change(body.holder, -body.bytes);
      body.room = room;
      body.bytes = 0;
    }
    room.change(body.holder, to - body.bytes);
    body.bytes = to;
    body.lastCame = ++this.#came;
  }

  /** Has others make way where a room is full; whose bound is still in the way then. */
  #clear(room: BodyRoom, body: KeptBody, to: number): BodyBound | undefined {
    let bound = boundIn(room, body, to);
    while (bound === "process" && to <= room.limit) {
      const idle = this.#longestAwaited(room, body);
      if (idle === undefined) break;
      this.#refused++;
      idle.makeWay();
      bound = boundIn(room, body, to);
    }
    return bound;
  }

  #longestAwaited(room: BodyRoom, but: KeptBody): KeptBody | undefined {
    let found: KeptBody | undefined;
    for (const body of this.#bodies) {
      if (body.room !== room || body === but || !body.isAwaited) continue;
      if (found === undefined || body.lastCame < found.lastCame) found = body;
    }
    return found;
  }
}

/** Whose bound would break if a body had so many bytes in this room, with what it has there already. */
function boundIn(room: BodyRoom, body: KeptBody, to: number): BodyBound | undefined {
  return room.boundOf(body.holder, body.room === room ? body.bytes : 0, to);
}
