import { condition, type Reason, type StatedCondition } from "../../conditions.ts";
import { rfc3339 } from "../../rfc3339.ts";
import { issuanceBlock, mayMint, NAMESPACE_TERMINATES } from "../issuance/issuance-block.ts";
import { isLost, isTampered, wantedVersion } from "../issuance/issuance-policy.ts";
import { alteredDelivery, alteredSecret, isDataAltered } from "../observed/altered-secret.ts";
import { deliveredVersion, governedKey, isOutdated, type ObservedKey } from "../observed/observed-key.ts";
import { type StoredVersion, versionIn } from "../stored/stored-key.ts";
import { MAX_RESERVED, supersededReservation } from "../stored/version-slots.ts";
import { type ConditionChecks, firstStated, type KeySituation } from "./condition-check.ts";
import { contestedSecret } from "./contested-secret.ts";

/** The versions that delivery is judged by: the active one, the one in the Secret, and the next one. */
type DeliverySituation = KeySituation & {
  readonly active: StoredVersion | undefined;
  readonly delivered: StoredVersion | undefined;
  readonly wanted: ReturnType<typeof wantedVersion>;
};
/** A key that has an active version. */
type ActiveSituation = DeliverySituation & { readonly active: StoredVersion };

const yes = (reason: Reason, message: string) => condition("SecretDelivered", "True", reason, message);
const no = (reason: Reason, message: string) => condition("SecretDelivered", "False", reason, message);

/** Checks of every key, whether or not a version of it is active. */
const DELIVERY: ConditionChecks<DeliverySituation> = {
  imported: ({ active, wanted, now }) =>
    active?.imported &&
    (wanted === undefined || wanted.from > now) &&
    yes("Imported", `Version ${active.number} (${active.prefix}...) was imported.`),
  conflict: ({ observed }) =>
    observed.secret.state === "unmanaged" && no("SecretConflict", `${nameOf(observed)} exists and is not this key's.`),
  namespaceTerminating: ({ observed }) =>
    observed.namespaceTerminates && no("NamespaceTerminating", NAMESPACE_TERMINATES),
  unreadable: ({ observed }) =>
    observed.secret.state === "unreadable" &&
    no("SecretUnreadable", `${nameOf(observed)} cannot be read: ${observed.secret.why}.`),
  ended: (situation) => isEnded(situation) && no("Revoked", "No version of the key works any longer."),
  firstReserved: ({ observed, active, delivered }) =>
    active === undefined && delivered?.state === "reserved" && holds(observed, delivered),
};

/** Checks of a key that has no active version, and whose Secret holds none that waits to become it. */
const FIRST_DELIVERY: ConditionChecks<DeliverySituation> = {
  takeOverRefused: ({ observed: { importable } }) =>
    importable !== null && "takeOverRefused" in importable && no("TakeOverRefused", importable.takeOverRefused),
  blocked: ({ observed, now }) => {
    const block = issuanceBlock(observed, now);
    return block && no(block.reason, block.message);
  },
  importUnusable: ({ observed: { importable } }) =>
    importable !== null && "problem" in importable && no("ImportUnusable", importable.problem),
  immutable: ({ observed }) =>
    observed.importable === null &&
    observed.secret.state === "ours" &&
    observed.secret.immutable &&
    no("SecretImmutable", `${nameOf(observed)} is immutable, and holds an earlier key. Nothing is minted meanwhile.`),
  reservationAltered,
};

/** Checks of a key that has an active version. */
const NEXT_DELIVERY: ConditionChecks<ActiveSituation> = {
  immutable: ({ observed, active, wanted }) =>
    observed.secret.state === "ours" &&
    observed.secret.immutable &&
    wanted !== undefined &&
    no("SecretImmutable", `${nameOf(observed)} is immutable; version ${active.number} stays.`),
  delivered: ({ observed, delivered }) =>
    (delivered?.state === "active" || delivered?.state === "reserved") && holds(observed, delivered),
  reservationAltered,
  lost: ({ observed }) =>
    isLost(observed.secret) &&
    !observed.declared.secret.healLost &&
    no("SecretLost", `${nameOf(observed)} is gone, and spec.secret.onLost is Report.`),
  tampered: ({ observed, active }) =>
    isTampered(observed.secret, active) &&
    !observed.declared.secret.healTampered &&
    no("SecretTampered", `${nameOf(observed)} was edited, and spec.secret.onTampered is Report.`),
  blocked: ({ observed, now }) => {
    const block = issuanceBlock(observed, now);
    return block && no(block.reason, `${damageOf(observed)} ${block.message}`);
  },
  expired: ({ observed, active, wanted }) =>
    wanted === undefined &&
    no(
      "Expired",
      `${damageOf(observed)} Version ${active.number} has expired, and nothing is minted before a rotation.`,
    ),
  contested: ({ observed, key, wanted, now }) => {
    if (key === undefined || wanted === undefined || wanted.from <= now) return undefined;
    const why = isLost(observed.secret) ? "SecretLost" : "SecretTampered";
    return no("SecretContested", contestedSecret(observed, key, why, wanted.from, now));
  },
};

/** States whether the Secret holds the version that it should. */
export function secretDelivered(given: KeySituation): StatedCondition {
  const { observed, key, now } = given;
  const active = versionIn(key, "active");
  const versions = { delivered: deliveredVersion(observed, key), wanted: wantedVersion(observed, key, now) };
  const situation = { ...given, ...versions, active };
  const stated =
    firstStated(DELIVERY, situation) ??
    (active === undefined
      ? firstStated(FIRST_DELIVERY, situation)
      : firstStated(NEXT_DELIVERY, { ...situation, active }));
  if (stated !== undefined) return stated;
  const what =
    active === undefined ? "No version has been delivered yet." : "A new version is on its way to the Secret.";
  return no("Minting", `${what}${reservedInVain(given)}`);
}

const nameOf = ({ declared }: ObservedKey): string => `Secret ${declared.secret.name}`;
const damageOf = (observed: ObservedKey): string =>
  `${nameOf(observed)} ${isLost(observed.secret) ? "is gone" : "was edited"}.`;

/** True if nothing is delivered any more: the key is revoked, or is never to be. */
function isEnded({ observed: { declared }, key }: KeySituation): boolean {
  return key === undefined ? declared.state === "Revoked" : key.state === "revoked";
}

function holds(observed: ObservedKey, { number, prefix, state: versionState }: StoredVersion): StatedCondition {
  const when = isOutdated(observed, governedKey(observed)) ? "once the declaration counts again" : "when there is room";
  const waits = versionState === "reserved" ? ` It becomes the active one ${when}.` : "";
  const message = `${nameOf(observed)} holds version ${number} (${prefix}...).${waits}`;
  const altered = alteredDelivery(observed, number);
  if (altered === undefined) return yes("Delivered", message);
  const state = isDataAltered(altered.fields) ? no : yes;
  return state("SecretAltered", `${message} ${alteredSecret(observed, altered)}`);
}

/** Applies if the next version does not reach the Secret, since something else changes its value there. */
function reservationAltered({ observed, now }: KeySituation): StatedCondition | undefined {
  const { altered, held } = observed;
  if (altered === null || altered.version !== held || !mayMint(observed, now)) return undefined;
  return no("SecretAltered", `Version ${held} is not in the Secret. ${alteredSecret(observed, altered)}`);
}

/**
 * Returns a sentence for a next attempt that waits, since controllers have ended one after the other before the Secret
 * was known to be written; empty if none waits.
 */
function reservedInVain({ observed, key, now }: KeySituation): string {
  const from = key && supersededReservation(key, observed.declared, now)?.from;
  if (from === undefined || from <= now) return "";
  return ` ${MAX_RESERVED} attempts have ended with their controller before the Secret was known to be written; the next one begins at ${rfc3339(from)}.`;
}
