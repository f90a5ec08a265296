import type { KnownUsage, LastUse } from "../../domain/key/stored/known-usage.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { sanitizeUntrusted } from "../../domain/redact.ts";
import { readKnownUsage } from "../../store/keys/uses/usage.ts";
import type { DeclaredObject } from "../cluster/port.ts";
import type { ControllerDeps } from "../context/deps.ts";

/** Largest number of characters that a status shows of a consumer's own text. */
const MAX_LENGTH = 120;

/**
 * Reads what is known of the uses of a key. Text that a consumer supplies about itself is untrusted, and is sanitized
 * here.
 */
export async function observeUsage({ store }: ControllerDeps, keyId: string): Promise<KnownUsage> {
  const usage = await readKnownUsage(store.db, keyId);
  const clean = (text: string | null) => text && sanitizeUntrusted(text, MAX_LENGTH);
  return {
    ...usage,
    lastUses: usage.lastUses.map((use) => ({
      ...use,
      address: clean(use.address),
      userAgent: clean(use.userAgent),
    })),
  };
}

/**
 * Reads back the use of an old version that a status reports, so that a last use that moves on is not reported each
 * time.
 */
export function reportedUse({ status }: DeclaredObject<"PlatformKey">): LastUse | null {
  const reported: unknown = status?.staleConsumer;
  if (!isRecord(reported)) return null;
  const { version, lastUsedTime, address = null, userAgent = null } = reported;
  const isText = (value: unknown): value is string | null => value === null || typeof value === "string";
  if (typeof version !== "number" || typeof lastUsedTime !== "string") return null;
  if (!isText(address) || !isText(userAgent)) return null;
  const at = Date.parse(lastUsedTime);
  return Number.isNaN(at) ? null : { version, at, address, userAgent };
}
