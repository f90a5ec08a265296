import { type DeclaredKey, isSecretCollected } from "../declaration/declared-key.ts";
import { adoptedVersion } from "../issuance/adoption.ts";
import { mayMint } from "../issuance/issuance-block.ts";
import { type MintReason, wantedVersion } from "../issuance/issuance-policy.ts";
import { isRewriteEarly } from "../observed/altered-secret.ts";
import { deliveredVersion, type ObservedKey } from "../observed/observed-key.ts";
import type { StoredKey, StoredVersion } from "../stored/stored-key.ts";
import {
  retireOldAt,
  retiringEndsAt,
  slotFreeAt,
  succeededBy,
  supersededReservation,
} from "../stored/version-slots.ts";
import { type KeyAction, NOTHING, WAIT } from "./key-action.ts";

/** Plans the next step for the versions and the Secret of a key whose policy is as declared. */
export function planVersions(observed: ObservedKey, key: StoredKey, now: number): KeyAction {
  const { declared, references, secret, held } = observed;
  const delivered = deliveredVersion(observed, key);
  const isSteady = now >= observed.steadyFrom;
  if (isSteady && key.versions.some((version) => version.state === "retiring" && retiringEndsAt(version) <= now)) {
    return { do: "Retire" };
  }
  if (delivered?.state === "reserved") return planActivation(key, delivered, declared, now);
  const adopted = isSteady ? adoptedVersion(observed, key, now) : undefined;
  if (adopted !== undefined) return { do: "RetireAdopted", number: adopted.number };

  const wanted = wantedVersion(observed, key, now);
  if (wanted !== undefined && wanted.from <= now) {
    if (!mayMint(observed, now)) return planKept(observed, key, now);
    if (held === null) return planReservation(key, declared, wanted.why, now);
    if (isRewriteEarly(observed, held, now)) return NOTHING;
    return observed.confirmed ? { do: "Publish", number: held } : WAIT;
  }

  if (delivered?.state !== "active" || secret.state !== "ours") return NOTHING;
  // The Secret keeps the variables that lead to a gateway that is missing: without them pods fail to start, or pass it by.
  const isWritable = (!secret.immutable && references.gatewayId !== "") || isToBeKept(observed);
  if (!secret.rendered && isWritable && !isRewriteEarly(observed, delivered.number, now)) return { do: "Render" };
  if (declared.restartTargets.length > 0 && delivered.number !== observed.restartedVersion) {
    return { do: "Restart", version: delivered.number };
  }
  return NOTHING;
}

/**
 * Plans the step of a key for which nothing else can be done. A Secret that is to outlive its declaration does not wait,
 * since Kubernetes would delete it with the declaration.
 */
export function planKept(observed: ObservedKey, key: StoredKey, now: number): KeyAction {
  const delivered = deliveredVersion(observed, key);
  if (delivered?.state !== "active" || !isToBeKept(observed)) return NOTHING;
  return isRewriteEarly(observed, delivered.number, now) ? NOTHING : { do: "Render" };
}

/** True if the key's Secret is still Kubernetes' to delete, and is not to be. */
function isToBeKept({ declared, secret }: ObservedKey): boolean {
  return secret.state === "ours" && secret.collected && !isSecretCollected(declared);
}

function planReservation(key: StoredKey, declared: DeclaredKey, why: MintReason, now: number): KeyAction {
  const superseded = supersededReservation(key, declared, now);
  if (superseded !== undefined && superseded.from > now) return NOTHING;
  const supersedes = superseded === undefined ? null : { number: superseded.number, endsAt: superseded.endsAt };
  return { do: "Reserve", number: key.lastNumber + 1, newKey: false, policy: key.policy, why, supersedes };
}

/**
 * Plans the activation of the version in the Secret, which works already. Nothing is done while no slots are free for
 * the versions that it succeeds, such as reservations that may have been read, or because an overlap was declared
 * meanwhile: they go on as they are until slots are free.
 */
export function planActivation(
  key: StoredKey,
  { number }: StoredVersion,
  declared: DeclaredKey,
  now: number,
): KeyAction {
  const oldEndsAt = retireOldAt(key, declared, now);
  const hasSlot = slotFreeAt(key, oldEndsAt, now, succeededBy(number, key.versions).length) <= now;
  return hasSlot ? { do: "Activate", number, retireOldAt: oldEndsAt } : NOTHING;
}
