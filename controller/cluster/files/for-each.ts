import { errorText } from "../../../domain/error-text.ts";
import type { ObjectRef } from "../port.ts";
import { titleOf } from "../titles.ts";

/** Number of objects that are written at once: disks answer many requests for a sync together. */
const BATCH = 32;

/**
 * Runs `work` for each object, many at once. A failure stops no other object: resolves with the first one, and how many
 * more objects failed.
 */
export async function forEach<T extends { readonly ref: ObjectRef }>(
  all: readonly T[],
  work: (one: T) => Promise<void>,
): Promise<{ what: string; why: string } | undefined> {
  const failures: { ref: ObjectRef; error: unknown }[] = [];
  for (let i = 0; i < all.length; i += BATCH) {
    const batch = all.slice(i, i + BATCH);
    await Promise.all(batch.map((one) => work(one).catch((error: unknown) => failures.push({ ref: one.ref, error }))));
  }
  const [first, ...others] = failures;
  if (first === undefined) return undefined;
  return {
    what: `${titleOf(first.ref)}${others.length === 0 ? "" : ` (and ${others.length} more)`}`,
    why: errorText(first.error),
  };
}
