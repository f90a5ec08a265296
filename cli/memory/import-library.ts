import { randomUUID } from "node:crypto";
import { errorMessage } from "../../domain/error-text.ts";
import { callApi, type Target } from "../management/api-call.ts";
import { type ImportItem, isObject, type LeftOut } from "./import-item.ts";

/** What one call imports: what the embedded database stores well within the time that a call has. */
const MAX_ATOMS = 100;
const MAX_BYTES = 100_000;

type Outcome = "created" | "corrected" | "unchanged" | "newer" | "expired";
type Imported = {
  readonly outcomes: readonly Outcome[];
  readonly droppedLinks: number;
  /** Then links from an earlier part to a later one are not set yet. */
  readonly isInParts?: true;
};

/** What came of an import. */
export type ImportResult = {
  readonly imported: number;
  readonly corrected: number;
  readonly unchanged: number;
  /** Those that were changed in the library since they were exported, and are left as they are. */
  readonly newer: readonly string[];
  readonly expired: number;
  readonly droppedLinks: number;
  /** What the server refuses. */
  readonly leftOut: readonly LeftOut[];
};

/**
 * Sends the atoms of a file, in batches that are stored whole or not at all, and once, however often one is sent. An atom
 * that was imported before is known again. One that is refused is left out. Batches with links to atoms of later ones are
 * sent again when these are there, which sets the links.
 *
 * @param onBatch called before each with how many atoms are through
 * @throws Error where nothing more can be imported, saying how many are
 */
export async function importLibrary(
  target: Target,
  library: string | undefined,
  items: readonly ImportItem[],
  onBatch: (done: number) => void,
): Promise<ImportResult> {
  const places = new Map(items.map(({ atom: { id } }, place) => [id, place]));
  const counts: Record<Outcome, number> = { created: 0, corrected: 0, unchanged: 0, newer: 0, expired: 0 };
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
    if (done === 0 && batch.length === 0) throw noneTaken(leftOut);
    done += size;
    for (const [index, outcome] of answer.outcomes.entries()) {
      counts[outcome]++;
      if (outcome === "newer") newer.push(batch[index]?.where ?? "");
    }
    const isLater = (link: unknown) => isObject(link) && (places.get(link.id) ?? -1) >= done;
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
  /** How many atoms the server takes at once. */
  readonly pace: { atoms: number };
};

/** A server scans a body before it knows of which atom a fault is: members, depth and their number. */
const OF_BODY = /^The body (has|is nested) .*\(400 invalid_request\)$/;

/**
 * Takes out of the batch, one by one, what the server refuses of it. A batch that takes a busy server too long is sent in
 * halves, as all later ones are; so is one that is refused for how it is built, until the atom is alone that it is for.
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
      leftOut.push({ what: refused.where, why: withoutPlace(message) });
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

/** The server counts the atoms of a batch; a person knows them by where they stand. */
function withoutPlace(message: string): string {
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

/** Then the file is another one than its reader took it for: to send the rest would refuse each of it. */
function noneTaken([first, ...others]: readonly LeftOut[]): Error {
  const rest = others.length === 0 ? "" : `, and so on for ${others.length} more`;
  return new Error(`${first?.what}: ${first?.why}${rest} (nothing was imported)`);
}

/** To import the file again goes on: what is there is known again. */
function brokenOff(error: unknown, stored: number): Error {
  const before =
    stored === 0 ? "nothing was imported" : `${stored} atoms are imported already, and stay: run it again to go on`;
  return new Error(`${errorMessage(error)} (${before})`, { cause: error });
}
