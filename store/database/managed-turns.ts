import { AsyncLocalStorage } from "node:async_hooks";
import { DatabaseBusyError, MemoryBusyError } from "./errors.ts";
import { type ShareLimits, TeamShare } from "./team-share.ts";

/** A request of the management API or the console, while it is handled. */
export type ManagedRequest = {
  /** The team that its caller is of, or what stands in its place. */
  readonly teamId: string;
  /** Aborted where its caller waits no longer, and nothing is changed by it. */
  readonly signal: AbortSignal;
  /** Whether it may change something, as a revocation does: it goes before what its team only reads. */
  readonly isChange?: boolean;
};

/** As long as the pool has a caller wait for a connection. Milliseconds. */
const MAX_WAIT_MS = 5_000;

const handled = new AsyncLocalStorage<ManagedRequest>();

const NEVER = new AbortController().signal;
const UNAUTHENTICATED: ManagedRequest = { teamId: "", signal: NEVER };
const arrived = new AsyncLocalStorage<ManagedRequest>();

/** Runs what handles a request: its statements take turns with those of other teams' requests, whatever asks them. */
export function inManagedTurns<T>(request: ManagedRequest, body: () => T): T {
  return handled.run(request, body);
}

/** Runs what authenticates a request: its look-ups take turns with those of other networks' callers (threats b155). */
export function inTurnsOfNetwork<T>(network: string, body: () => T): T {
  return arrived.run({ teamId: network, signal: NEVER }, body);
}

/** Runs what requests of several teams wait for together: it takes no turn of the one that began it. */
export function outsideManagedTurns<T>(body: () => T): T {
  return handled.exit(body);
}

/**
 * The management API's share of a database's connections, so that its callers can take neither what enforcement needs,
 * such as what budgets and limits are drawn by, nor one team what others do (threats b136). A statement takes a turn,
 * and so does a transaction; what is asked outside of such a request takes none.
 */
export class ManagedTurns {
  readonly #share: TeamShare;
  readonly #requestOf: () => ManagedRequest | undefined;

  /** @param requestOf for whom a statement is; undefined where it takes no turn */
  constructor(limits: ShareLimits, requestOf: () => ManagedRequest | undefined = () => handled.getStore()) {
    this.#share = new TeamShare(limits, () => performance.now());
    this.#requestOf = requestOf;
  }

  /** Turns of callers that are not authenticated yet, whose networks stand for teams (threats b139, b155). */
  static ofUnauthenticated(limits: Omit<ShareLimits, "runningPerTeam">): ManagedTurns {
    return new ManagedTurns({ ...limits, runningPerTeam: limits.running }, () => arrived.getStore() ?? UNAUTHENTICATED);
  }

  /**
   * @returns ends the turn
   * @throws DatabaseBusyError when too many wait already, or this one has waited too long
   * @throws CallerLeftError where the request's signal says so
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
