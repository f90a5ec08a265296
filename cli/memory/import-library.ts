import { randomUUID } from "node:crypto";
import { errorMessage } from "../../domain/error-text.ts";
import { callApi, type Target } from "../management/api-call.ts";
import { type ImportItem, isObject, type LeftOut } from "./import-item.ts";

/** Size limit of one batch: what the embedded database stores well within the time limit of a call. */
const MAX_ATOMS = 100;
const MAX_BYTES = 100_000;

type AtomOutcome = "created" | "corrected" | "unchanged" | "newer" | "expired";
type Imported = {
  readonly outcomes: readonly AtomOutcome[];
  readonly droppedLinks: number;
  /** True if the batch was sent in parts. Links from an earlier part to a later one are then not set yet. */
  readonly isInParts?: true;
};

/** Result of an import. */
export type ImportResult = {
  readonly imported: number;
  readonly corrected: number;
  readonly unchanged: number;
  /** Locations of atoms that were changed in the library after their export. They are left as they are. */
  readonly newer: readonly string[];
  readonly expired: number;
  readonly droppedLinks: number;
  /** Atoms that the server refuses. */
  readonly leftOut: readonly LeftOut[];
};

/**
 * Sends the atoms of a file in batches. A batch is stored whole or not at all, and a repeated batch takes effect once.
 * An atom that was imported before is recognised by its id; a refused atom is left out. A batch with links to atoms of
 * later batches is sent again at the end, which sets those links.
 *
 * @param onBatch called before each batch with the number of atoms that are done
 * @throws Error if the import cannot go on, with the number of atoms that are imported
 */
export async function importLibrary(
  target: Target,
  library: string | undefined,
  items: readonly ImportItem[],
  onBatch: (done: number) => void,
): Promise<ImportResult> {
  const positions = new Map(items.map(({ atom: { id } }, position) => [id, position]));
  const counts: Record<AtomOutcome, number> = { created: 0, corrected: 0, unchanged: 0, newer: 0, expired: 0 };
  const newer: string[] = [];
  const leftOut: LeftOut[] = [];
  const openBatches: ImportItem[][] = [];
  const pace = { atoms: MAX_ATOMS };
  let [done, droppedLinks] = [0, 0];
  const send = (batch: ImportItem[]) =>
    sendBatch(target, { library, leftOut, pace }, batch).catch((error: unknown) => {
      throw brokenOff(error, counts.created + counts.corrected);
    });
  while (done < items.length) {
    onBatch(done);
    const batch = batchFrom(items, done, pace.atoms);
    const size = batch.length;
    const answer = await send(batch);
    done += size;
    if (leftOut.length === done && done >= Math.min(MAX_ATOMS, items.length)) throw noneTaken(leftOut);
    for (const [index, outcome] of answer.outcomes.entries()) {
      counts[outcome]++;
      if (outcome === "newer") newer.push(batch[index]?.where ?? "");
    }
    const isLater = (link: unknown) => isObject(link) && (positions.get(link.id) ?? -1) >= done;
    if (answer.isInParts || batch.some(({ atom: { links } }) => Array.isArray(links) && links.some(isLater)))
      openBatches.push(batch);
    else droppedLinks += answer.droppedLinks;
  }
  for (const batch of openBatches) droppedLinks += (await send(batch)).droppedLinks;
  const { created: imported, corrected, unchanged, expired } = counts;
  return { imported, corrected, unchanged, newer, expired, droppedLinks, leftOut };
}

type Sending = {
  readonly library: string | undefined;
  readonly leftOut: LeftOut[];
  /** Number of atoms in a batch, lowered when the server takes too long. */
  readonly pace: { atoms: number };
};

/**
 * Pattern of an error about the body as a whole (its size, depth, members or their number), which the server finds
 * before it knows which atom is at fault.
 */
const OF_BODY = /^The body (has|is nested|is larger) .*\((400 invalid_request|413)\)$/;

/**
 * Sends one batch, and takes out of it, one by one, the atoms that the server refuses. A batch that takes a busy server
 * too long is halved, as all later batches are. A batch refused for its size or structure is halved until the atom at
 * fault is alone.
 */
async function sendBatch(target: Target, sending: Sending, batch: ImportItem[]): Promise<Imported> {
  const { library, leftOut, pace } = sending;
  while (batch.length > 0) {
    if (batch.length > pace.atoms) return sendInParts(target, sending, batch, pace.atoms);
    const body = { ...(library === undefined ? {} : { library }), upsert: true, atoms: batch.map(({ atom }) => atom) };
    try {
      return await callApi<Imported>(target, "POST", "memory/atoms/import", body, randomUUID());
    } catch (error) {
      const message = errorMessage(error);
      if (message.includes("(503 unavailable)") && batch.length > 1) {
        pace.atoms = Math.ceil(batch.length / 2);
        continue;
      }
      const isOfBody = OF_BODY.test(message);
      if (isOfBody && batch.length > 1) return sendInParts(target, sending, batch, Math.ceil(batch.length / 2));
      const index = isOfBody ? "0" : /"atoms\.(\d+)[."]/.exec(message)?.[1];
      const [refused] = index === undefined ? [] : batch.splice(Number(index), 1);
      if (refused === undefined) throw error;
      leftOut.push({ what: refused.where, why: withoutPositions(message) });
    }
  }
  return { outcomes: [], droppedLinks: 0 };
}

async function sendInParts(target: Target, sending: Sending, batch: ImportItem[], first: number): Promise<Imported> {
  const rest = batch.splice(first);
  const one = await sendBatch(target, sending, batch);
  const other = await sendBatch(target, sending, rest);
  batch.push(...rest);
  const outcomes = [...one.outcomes, ...other.outcomes];
  return { outcomes, droppedLinks: one.droppedLinks + other.droppedLinks, isInParts: true };
}

/** Removes the atoms' numbers in the batch from a message: a person knows atoms by their location in the file. */
function withoutPositions(message: string): string {
  return message
    .replace(/In "atoms\.\d+": /g, "")
    .replace(/The body's "atoms\.\d+"(?=\s)/g, "It")
    .replace(/"atoms\.\d+\.([^"]*)"/g, '"$1"')
    .replace(/"atoms\.\d+"/g, "it");
}

function batchFrom(items: readonly ImportItem[], from: number, most: number): ImportItem[] {
  let bytes = 0;
  const next = items.slice(from, from + most);
  const end = next.findIndex(({ atom }, index) => {
    bytes += Buffer.byteLength(JSON.stringify(atom));
    return index > 0 && bytes > MAX_BYTES;
  });
  return end === -1 ? next : next.slice(0, end);
}

/**
 * Returns the error for a file whose first atoms, as many as a batch has at most, are all refused. It then has another
 * format than assumed, and the server would refuse the rest too.
 */
function noneTaken([first, ...others]: readonly LeftOut[]): Error {
  const rest = others.length === 0 ? "" : `, and so on for ${others.length} more`;
  return new Error(`${first?.what}: ${first?.why}${rest} (nothing was imported)`);
}

/**
 * Returns the error for an import that broke off. Importing the file again continues it, since existing atoms are
 * recognised.
 */
function brokenOff(error: unknown, stored: number): Error {
  const before =
    stored === 0 ? "nothing was imported" : `${stored} atoms are imported already, and stay: run it again to go on`;
  return new Error(`${errorMessage(error)} (${before})`, { cause: error });
}
