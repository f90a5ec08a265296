/**
 * DATA/held.json: what is no longer declared, or not as it should be, and goes on as it was all the same.
 * `keyplane get` and `keyplane doctor` say it from there.
 */
import { join } from "node:path";
import type { Kind } from "../../../domain/kinds/kinds.ts";
import { readJson, replaceFile } from "./disk.ts";

/** What is held, and why, with what to do about it. */
export type HeldNote = {
  readonly kind: Kind | "Secret";
  readonly namespace: string;
  readonly name: string;
  readonly why: string;
};

const heldFile = (data: string): string => join(data, "held.json");

/** What `up` says, or said last, is held. */
export async function readHeld(data: string): Promise<readonly HeldNote[]> {
  return ((await readJson(heldFile(data))) as HeldNote[] | undefined) ?? [];
}

/** Makes a writer that writes only what differs from what is there. */
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
