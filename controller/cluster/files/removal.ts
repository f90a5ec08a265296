/**
 * Whether what is missing from the folder of manifests is removed (design §2, the files cluster). A removal revokes
 * keys for good, and an empty mount, a checkout in progress or a broken file look like one; so it is believed late and
 * only of a folder that is in order.
 */
import type { Kind, Spec } from "../../../domain/manifest/kinds.ts";

/** How long the folder must have been unchanged. Milliseconds. */
const SETTLE_MS = 2_000;
/** The brake: a removal that ends more of a kind than both of these is refused. */
const BRAKE_COUNT = 10;
const BRAKE_SHARE = 0.05;

type Held = { readonly kind: Kind; readonly spec: Spec };

/**
 * What a removal ends for good. A team is not among it, nor a gateway that declares its public id: what they take away
 * comes back with their declaration.
 */
const ENDED_FOR_GOOD: readonly {
  readonly kind: Kind;
  readonly plural: string;
  isEnded(spec: Spec): boolean;
  /** What the removal would do to more than `most`. */
  readonly deed: (most: number) => string;
  /** How all of them can go at once. */
  readonly instead: string;
}[] = [
  {
    kind: "PlatformKey",
    plural: "keys",
    isEnded: (spec) => !("state" in spec && spec.state === "Revoked"),
    deed: (most) => `revoke more than ${most} keys`,
    instead: "declare `state: Revoked` on them first",
  },
  {
    kind: "MemoryLibrary",
    plural: "libraries",
    isEnded: (spec) => "deletionPolicy" in spec && spec.deletionPolicy === "Delete",
    deed: (most) => `delete more than ${most} libraries with all that is remembered in them`,
    instead: "declare `deletionPolicy: Retain` on them first, which keeps what is in them",
  },
  {
    kind: "ModelGateway",
    plural: "gateways",
    isEnded: (spec) => !("publicID" in spec),
    deed: (most) => `give up the generated public ids of more than ${most} gateways, which clients have in their URLs,`,
    instead: "declare the `publicID` that their status shows on them first",
  },
];

export type FolderView = {
  /** Why the folder, or something in it, could not be read. */
  readonly unreadable: string | undefined;
  /** Documents of any kind that it holds. */
  readonly documents: number;
  readonly faults: number;
  /** Milliseconds since the last change that was seen. */
  readonly unchangedFor: number;
};

export type Missing = {
  /** Objects that are held and no longer declared. */
  readonly objects: readonly Held[];
  /** How many `Secret` manifests are gone. */
  readonly secrets: number;
  /** Every object that is not on its way out, the missing ones among them. */
  readonly held: readonly Held[];
};

export type RemovalDecision =
  | { readonly remove: true }
  /** Look again after so many milliseconds. */
  | { readonly remove: false; readonly waitMs: number }
  /** Refused until somebody does what it says. */
  | { readonly remove: false; readonly warning: string };

/** Decides on everything that is missing at once. */
export function decideRemoval(view: FolderView, missing: Missing): RemovalDecision {
  const count = missing.objects.length + missing.secrets;
  const what = `${count} ${count === 1 ? "declaration is" : "declarations are"} gone from the manifests`;
  if (view.unchangedFor < SETTLE_MS) return { remove: false, waitMs: SETTLE_MS - view.unchangedFor };
  if (view.unreadable !== undefined) {
    return refuse(`${what}: nothing is removed while the manifests cannot be read in full (${view.unreadable}).`);
  }
  if (view.documents === 0) {
    return refuse(`${what}, and nothing is left: an empty folder removes nothing. Put back what shall stay.`);
  }
  if (view.faults > 0) return refuse(`${what}: nothing is removed before every fault in the manifests is mended.`);
  const braked = brake(missing);
  return braked === undefined ? { remove: true } : refuse(`${what}, ${braked}`);
}

function brake({ objects, held }: Missing): string | undefined {
  for (const { kind, plural, isEnded, deed, instead } of ENDED_FOR_GOOD) {
    const all = held.filter((object) => object.kind === kind).length;
    const ended = objects.filter((object) => object.kind === kind && isEnded(object.spec)).length;
    const most = Math.max(BRAKE_COUNT, Math.floor(all * BRAKE_SHARE));
    if (ended <= most) continue;
    return (
      `${ended} of ${all} ${plural} among them: that would ${deed(most)} at once. ` +
      `Put them back, or, if they shall go, remove at most ${most} at a time, or ${instead}.`
    );
  }
  return undefined;
}

const refuse = (warning: string): RemovalDecision => ({ remove: false, warning });
