import { AsyncLocalStorage } from "node:async_hooks";
import { DatabaseBusyError, MemoryBusyError } from "./errors.ts";
import { type ShareLimits, TeamShare } from "./team-share.ts";

/** Request of the management API or the console, while it is handled. */
export type ManagedRequest = {
  /** Team of the caller, or what stands for a team. */
  readonly teamId: string;
  /** Aborted when the caller no longer waits and the request changes nothing. */
  readonly signal: AbortSignal;
  /** True if the request may change something, as a revocation does: it goes before the reads of its team. */
  readonly isChange?: boolean;
};

/** Milliseconds for which a statement waits for a slot: as long as the pool lets a caller wait for a connection. */
const MAX_WAIT_MS = 5_000;

const handled = new AsyncLocalStorage<ManagedRequest>();

const NEVER = new AbortController().signal;
const UNAUTHENTICATED: ManagedRequest = { teamId: "", signal: NEVER };
const arrived = new AsyncLocalStorage<ManagedRequest>();

/** Runs a request's handler: its statements, whichever code asks them, share slots with other teams' requests. */
export function inManagementSlots<T>(request: ManagedRequest, body: () => T): T {
  return handled.run(request, body);
}

/** Runs a request's authentication: its look-ups share slots fairly with callers from other networks (threats b155). */
export function inNetworkSlots<T>(network: string, body: () => T): T {
  return arrived.run({ teamId: network, signal: NEVER }, body);
}

/** Runs work that requests of several teams wait for together: it takes no slot of the request that began it. */
export function outsideManagementSlots<T>(body: () => T): T {
  return handled.exit(body);
}

/**
 * Share of the management API in a database's connections. Its callers cannot take the connections that enforcement
 * needs, such as those by which budgets and limits are drawn, and no team can take those of other teams (threats b136).
 * A statement takes a slot, and so does a transaction; outside of such a request nothing takes a slot.
 */
export class ManagementSlots {
  readonly #share: TeamShare;
  readonly #requestOf: () => ManagedRequest | undefined;

  /** @param requestOf returns the request that a statement is for; undefined if it takes no slot */
  constructor(limits: ShareLimits, requestOf: () => ManagedRequest | undefined = () => handled.getStore()) {
    this.#share = new TeamShare(limits, () => performance.now());
    this.#requestOf = requestOf;
  }

  /** Slots for callers that are not authenticated yet. Their networks stand for teams (threats b139, b155). */
  static ofUnauthenticated(limits: Omit<ShareLimits, "runningPerTeam">): ManagementSlots {
    return new ManagementSlots(
      { ...limits, runningPerTeam: limits.running },
      () => arrived.getStore() ?? UNAUTHENTICATED,
    );
  }

  /**
   * Waits for a slot.
   *
   * @returns function that gives the slot back
   * @throws DatabaseBusyError if too many wait already, or this caller has waited too long
   * @throws CallerLeftError if the request's signal says so
   */
  async take(): Promise<() => void> {
    const request = this.#requestOf();
    if (request === undefined) return () => {};
    const { teamId, signal, isChange } = request;
    const impatience = new AbortController();
    const timer = setTimeout(() => impatience.abort(new DatabaseBusyError("all")), MAX_WAIT_MS);
    try {
      await this.#share.enter(teamId, AbortSignal.any([signal, impatience.signal]), isChange);
    } catch (error) {
      throw error instanceof MemoryBusyError ? new DatabaseBusyError(error.of) : error;
    } finally {
      clearTimeout(timer);
    }
    const began = performance.now();
    return () => this.#share.leave(teamId, performance.now() - began, isChange);
  }
}
