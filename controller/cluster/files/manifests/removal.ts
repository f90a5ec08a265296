/**
 * Decision on the removal of what is missing from the folder of manifests (architecture §2, the files cluster). A
 * removal revokes keys for good, and an empty mount, a checkout in progress or a broken file look like a removal. So it
 * is believed late, and only if the folder is in order.
 */
import type { Kind, Spec } from "../../../../domain/kinds/kinds.ts";
import type { Absence } from "./absence.ts";

/** Milliseconds for which the folder must have been unchanged. */
export const SETTLE_MS = 2_000;
/**
 * Milliseconds for what may be a slip: an object vanished from a file that still exists, or more than a few objects
 * went at once.
 */
export const DOUBT_MS = 30_000;
/** Number of keys, or other things that end for good, that may go in one look without a doubt. */
const MAX_AT_ONCE = 2;
/** Deletion limit: a removal that ends more of a kind than both of these is refused. */
const MAX_DELETED = 10;
const MAX_DELETED_SHARE = 0.05;

type RemovableObject = { readonly kind: Kind; readonly spec: Spec };

/**
 * Kinds of objects that a removal ends for good. A team is not among them, nor a gateway that declares its public id:
 * what they take away comes back with their declaration.
 */
const ENDED_FOR_GOOD: readonly {
  readonly kind: Kind;
  readonly plural: string;
  isEnded(spec: Spec): boolean;
  /** Returns what the removal would do to more than `most` objects. */
  readonly consequence: (most: number) => string;
  /** Alternative by which all of them can go at once. */
  readonly alternative: string;
}[] = [
  {
    kind: "PlatformKey",
    plural: "keys",
    isEnded: (spec) => !("state" in spec && spec.state === "Revoked"),
    consequence: (most) => `revoke more than ${most} keys`,
    alternative: "declare `state: Revoked` on them first",
  },
  {
    kind: "MemoryLibrary",
    plural: "libraries",
    isEnded: (spec) => "deletionPolicy" in spec && spec.deletionPolicy === "Delete",
    consequence: (most) => `delete more than ${most} libraries with all their atoms`,
    alternative: "declare `deletionPolicy: Retain` on them first, which keeps what is in them",
  },
  {
    kind: "ModelGateway",
    plural: "gateways",
    isEnded: (spec) => !("publicID" in spec),
    consequence: (most) =>
      `give up the generated public ids of more than ${most} gateways, which clients have in their URLs,`,
    alternative: "declare the `publicID` that their status shows on them first",
  },
];

export type FolderView = {
  /** Reason why the folder, or something in it, could not be read; undefined if all could. */
  readonly unreadable: string | undefined;
  /** Number of documents of our kinds in the folder. */
  readonly documents: number;
  /** Milliseconds since the last change that was seen. */
  readonly unchangedFor: number;
};

/** Object that was declared and is no longer. A `Secret` has no spec. */
export type MissingDeclaration = { readonly kind: Kind | "Secret"; readonly spec?: Spec; readonly absence: Absence };

export type RemovalDecision<M extends MissingDeclaration> =
  /** Too soon to decide. Decide again after so many milliseconds. */
  | { readonly isSettled: false; readonly lookAgainMs: number }
  | {
      readonly isSettled: true;
      readonly remove: readonly M[];
      /** Objects that are removed once nothing has changed for `lookAgainMs` more. */
      readonly wait: readonly M[];
      readonly lookAgainMs?: number;
      /** Objects that are not removed before a person acts, as `why` says. */
      readonly hold: readonly { readonly missing: M; readonly why: string }[];
    };

/**
 * Decides on everything that is missing at once.
 *
 * @param held every object that is not being removed, the missing ones among them
 */
export function decideRemoval<M extends MissingDeclaration>(
  { unreadable, documents, unchangedFor }: FolderView,
  missing: readonly M[],
  held: readonly RemovableObject[],
): RemovalDecision<M> {
  if (unchangedFor < SETTLE_MS) return { isSettled: false, lookAgainMs: SETTLE_MS - unchangedFor };
  const holding = (all: readonly M[], why: string) => all.map((one) => ({ missing: one, why }));
  const onlyHold = (hold: ReturnType<typeof holding>) => ({ isSettled: true, remove: [], wait: [], hold }) as const;
  if (unreadable !== undefined) {
    const why = `nothing is removed while the manifests cannot be read in full (${unreadable}).`;
    return onlyHold(holding(missing, why));
  }
  if (documents === 0) {
    const why = "nothing is left, and an empty folder removes nothing. Put back what shall stay.";
    return onlyHold(holding(missing, why));
  }
  const hold = missing.flatMap((one) => (one.absence.is === "held" ? [{ missing: one, why: one.absence.why }] : []));
  const { true: alike = [], false: rest = [] } = Object.groupBy(
    missing,
    ({ absence }) => `${absence.is === "declared alike"}` as const,
  );
  const going = rest.filter(({ absence }) => absence.is !== "held");
  const refused = overLimit(going, held);
  if (refused !== undefined) return { ...onlyHold([...hold, ...holding(going, refused)]), remove: alike };
  const isMany = going.filter(endsForGood).length > MAX_AT_ONCE;
  const isDoubtful = (one: M) => unchangedFor < DOUBT_MS && (isMany || one.absence.is === "doubtful");
  const { true: wait = [], false: remove = [] } = Object.groupBy(going, (one) => `${isDoubtful(one)}` as const);
  return {
    isSettled: true,
    remove: [...alike, ...remove],
    wait,
    hold,
    ...(wait.length === 0 ? {} : { lookAgainMs: DOUBT_MS - unchangedFor }),
  };
}

function endsForGood({ kind, spec }: MissingDeclaration): boolean {
  return spec !== undefined && ENDED_FOR_GOOD.some((ended) => ended.kind === kind && ended.isEnded(spec));
}

function overLimit(going: readonly MissingDeclaration[], held: readonly RemovableObject[]): string | undefined {
  for (const { kind, plural, isEnded, consequence, alternative } of ENDED_FOR_GOOD) {
    const all = held.filter((object) => object.kind === kind).length;
    const ended = going.filter((one) => one.kind === kind && one.spec !== undefined && isEnded(one.spec)).length;
    const most = Math.max(MAX_DELETED, Math.floor(all * MAX_DELETED_SHARE));
    if (ended <= most) continue;
    return (
      `${ended} of ${all} ${plural} among them: that would ${consequence(most)} at once. ` +
      `Put them back, or, if they shall go, remove at most ${most} at a time, or ${alternative}.`
    );
  }
  return undefined;
}
