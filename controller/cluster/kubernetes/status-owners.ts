/**
 * Ownership of an object's status. Two controllers may see one object: a PlatformTeam belongs to the whole cluster, and
 * two installations may serve one namespace by mistake. A status names the controller that wrote it: that controller
 * goes on writing it, and the other leaves it alone (docs/decisions/status-owners.md).
 */
import { findCondition } from "../../../domain/conditions.ts";
import { isClusterScoped } from "../../../domain/kinds/kinds.ts";
import type { LogLine } from "../../../runtime/log-line.ts";
import type { DeclaredObject, ObjectRef, ObjectStatus } from "../port.ts";
import { titleOf } from "../titles.ts";

/** Milliseconds that a status may be behind its declaration before a controller that serves none of it writes it. */
const BEHIND_MS = 20_000;
/**
 * Number of times that another controller's status is written over at once. After that it stands, for an object that
 * two installations may well share; for any other object, each wait is twice the wait before.
 */
const TAKES_AT_ONCE = 2;
const FIRST_WAIT_MS = 60_000;
const LONGEST_WAIT_MS = 3_600_000;
/** Milliseconds without writing over the other's status after which the count resets. */
const FORGOTTEN_MS = 2 * LONGEST_WAIT_MS;

/** Knowledge of an object whose status another controller has written. Times are monotonic milliseconds. */
type Contest = {
  readonly uid: string;
  readonly generation: number;
  /** Time at which the other's status was first found beside this generation. */
  readonly since: number;
  /** Number of times that the status was written over; below, the time of the last. */
  readonly takes: number;
  readonly takenAt: number;
};

export type StatusOwners = {
  /** Name of the controller that a status is to say wrote it; undefined to say nothing. */
  readonly name: string | undefined;
  /** True if the status of an object is left to the controller that wrote it, though it says something else. */
  leaves(now: DeclaredObject, wanted: ObjectStatus): boolean;
  /** Notes that the status of this object was written over. */
  wrote(before: DeclaredObject): void;
  /** Notes that there is no such object any more. */
  forget(ref: ObjectRef): void;
};

export type StatusOwnersOptions = {
  /**
   * Name of this controller, unlike any other's: its Lease, as `namespace/name`. undefined: every status is its own.
   */
  readonly name: string | undefined;
  /** True if what an object declares is this controller's to bring about. */
  readonly serves: (object: DeclaredObject) => boolean;
  readonly clock: { monotonic(): number };
  readonly log: LogLine;
};

export function createStatusOwners({ name, serves, clock, log }: StatusOwnersOptions): StatusOwners {
  /** Contests by the object's title. */
  const contests = new Map<string, Contest>();
  /** Other controllers that were logged: each is logged once. */
  const said = new Set<string>();

  /** @param forgottenAfter how long a count of takes holds, in milliseconds */
  function contestOf(object: DeclaredObject, forgottenAfter: number): Contest {
    const known = contests.get(titleOf(object));
    const now = clock.monotonic();
    const isSame = known?.uid === object.uid && known.generation === object.generation;
    if (isSame && (known.takes === 0 || now < known.takenAt + forgottenAfter)) return known;
    const { uid, generation } = object;
    const begun = { uid, generation, since: now, takes: 0, takenAt: now };
    contests.set(titleOf(object), begun);
    return begun;
  }

  function say(object: DeclaredObject, other: string, isShared: boolean): void {
    const key = `${isShared} ${other}`;
    if (said.has(key)) return;
    said.add(key);
    const title = titleOf(object);
    if (isShared) {
      log(
        "info",
        `the controller of the Lease ${other} writes the status of ${title}, and the one of ${name} leaves it`,
      );
    } else {
      const both = `the controllers of the Leases ${name} and ${other} both write the status of ${title}`;
      log("warn", `${both}: keyplane doctor says whether they serve the same namespaces`);
    }
  }

  const writerOf = ({ status }: DeclaredObject): string | undefined => {
    const writer = status?.controllerName;
    return typeof writer === "string" && name !== undefined && writer !== name ? writer : undefined;
  };

  return {
    name,
    leaves(object, wanted) {
      const other = writerOf(object);
      if (other === undefined) return false;
      const isOneDatabase = isOfOneDatabase(object.status, wanted);
      const isShared = isClusterScoped(object.kind) && !isOneDatabase;
      const contest = contestOf(object, isShared ? Number.POSITIVE_INFINITY : FORGOTTEN_MS);
      const isOurs = serves(object) || isOneDatabase;
      const now = clock.monotonic();
      const isOverdue = isBehind(object) && now >= contest.since + BEHIND_MS;
      if ((isOurs || isOverdue) && now >= contest.takenAt + waitAfter(contest.takes, isShared)) return false;
      say(object, other, isShared);
      return true;
    },
    wrote(before) {
      if (writerOf(before) === undefined) return;
      const contest = contestOf(before, Number.POSITIVE_INFINITY);
      contests.set(titleOf(before), { ...contest, takes: contest.takes + 1, takenAt: clock.monotonic() });
    },
    forget: (ref) => contests.delete(titleOf(ref)),
  };
}

/** Returns how long another controller's status stands after it was written over so often. Milliseconds. */
function waitAfter(takes: number, isShared: boolean): number {
  if (takes < TAKES_AT_ONCE) return 0;
  return isShared ? Number.POSITIVE_INFINITY : Math.min(FIRST_WAIT_MS * 2 ** (takes - TAKES_AT_ONCE), LONGEST_WAIT_MS);
}

const isBehind = ({ status, generation }: DeclaredObject): boolean => status?.observedGeneration !== generation;

/**
 * True if two controllers write by the content of one database: a team has another id in each database. The status of a
 * declaration that this version cannot read says nothing of a database, and keeps the id that it had.
 */
function isOfOneDatabase(status: ObjectStatus | undefined, wanted: ObjectStatus): boolean {
  const isRead = findCondition(wanted.conditions, "Accepted")?.reason !== "Invalid";
  return isRead && wanted.teamID !== undefined && wanted.teamID === status?.teamID;
}
