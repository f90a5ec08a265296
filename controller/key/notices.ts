import { isRecord } from "../../domain/manifest/document/identity.ts";
import { change } from "../../store/database/change.ts";
import { type KeyNotice, recordNotice } from "../../store/keys/events/key-notices.ts";
import type { DeclaredObject, ObjectStatus } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";
import { recordEvent } from "../context/record-event.ts";

/**
 * Reports a near expiry or late consumers when the status says so for the first time. The status keeps what was
 * reported. The store keeps it too, for the team's webhooks, and where two attempts find it at once.
 */
export async function reportNotices(
  deps: ControllerDeps,
  object: DeclaredObject<"PlatformKey">,
  status: ObjectStatus,
): Promise<void> {
  if (object.deleting) return;
  const { keyID: keyId, expiryWarned, keyPrefix } = status;
  if (typeof keyId !== "string") return;
  if (typeof expiryWarned === "string" && expiryWarned !== object.status?.expiryWarned) {
    const detail = { expiresAt: expiryWarned };
    const isNew = await record(deps, { keyId, kind: "key.expiring", mark: Date.parse(expiryWarned), detail });
    const message = `The key (${keyPrefix}...) expires at ${expiryWarned}: set a later end, or rotate it before then.`;
    const isReported = isNew && !deps.cluster.leavesStatus(object, status);
    if (isReported) await recordEvent(deps, object, { type: "Warning", reason: "Expiring", message });
  }
  const late = lateVersionOf(status);
  if (late !== undefined && late.lateVersion !== lateVersionOf(object.status)?.lateVersion) {
    await record(deps, { keyId, kind: "key.consumer_late", mark: late.lateVersion, detail: late });
  }
}

/** Records a notice, and returns true if it is new. */
async function record({ store, fence }: ControllerDeps, notice: KeyNotice): Promise<boolean> {
  const { result } = await change(store, fence, (tx) => recordNotice(tx, notice));
  return result;
}

function lateVersionOf(status: ObjectStatus | undefined) {
  const use: unknown = status?.staleConsumer;
  if (!isRecord(use) || typeof use.version !== "number") return undefined;
  const { version: lateVersion, lastUsedTime: lastUsedAt = null, address = null, userAgent = null } = use;
  return { lateVersion, lastUsedAt, address, userAgent };
}
