/**
 * DATA/held.json: objects that are no longer declared, or not as they should be, and go on as they were all the same.
 * `keyplane get` and `keyplane doctor` report them from there.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Kind } from "../../../domain/kinds/kinds.ts";
import { readJson, replaceFile } from "./disk.ts";

/** Object that is held, with the reason and what to do about it. */
export type HeldNote = {
  readonly kind: Kind | "Secret";
  readonly namespace: string;
  readonly name: string;
  readonly why: string;
};

const heldFile = (data: string): string => join(data, "held.json");

/** Reads what `up` reports as held, or reported last. */
export async function readHeld(data: string): Promise<readonly HeldNote[]> {
  return ((await readJson(heldFile(data))) as HeldNote[] | undefined) ?? [];
}

/** Forgets what an earlier `up` held: it may have run on another folder of manifests. */
export function forgetHeld(data: string): Promise<void> {
  return rm(heldFile(data), { force: true });
}

/** Makes a writer that writes only if the file has something else. */
export function createHeldFile(data: string): (held: readonly HeldNote[]) => Promise<void> {
  let written: string | undefined;
  return async (held) => {
    written ??= JSON.stringify(await readHeld(data).catch(() => undefined));
    const text = JSON.stringify(held);
    if (text === written) return;
    await replaceFile(heldFile(data), text, false);
    written = text;
  };
}
