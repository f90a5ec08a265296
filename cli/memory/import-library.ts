import { randomUUID } from "node:crypto";
import { errorMessage } from "../../domain/error-text.ts";
import { callApi, type Target } from "../management/api-call.ts";
import { type ImportItem, isObject, type LeftOut } from "./import-item.ts";

/** What one call imports: what the embedded database stores well within the time that a call has. */
const MAX_ATOMS = 100;
const MAX_BYTES = 100_000;

type Outcome = "created" | "corrected" | "unchanged" | "newer" | "expired";
type Imported = { readonly outcomes: readonly Outcome[]; readonly droppedLinks: number };

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
    // Of a batch that was sent in halves, the second one was later.
    const wasSplit = pace.atoms < size;
    const isLater = (link: unknown) => isObject(link) && (places.get(link.id) ?? -1) >= done;
    if (wasSplit || batch.some(({ atom: { links } }) => Array.isArray(links) && links.some(isLater)))
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

/**
 * Takes out of the batch, one by one, what the server refuses of it. A batch that takes a busy server too long is sent in
 * halves, as all later ones are.
 */
async function sendBatch(target: Target, sending: Sending, batch: ImportItem[]): Promise<Imported> {
  const { library, leftOut, pace } = sending;
  while (batch.length > 0) {
    if (batch.length > pace.atoms) return sendInParts(target, sending, batch);
    const body = { ...(library === undefined ? {} : { library }), upsert: true, atoms: batch.map(({ atom }) => atom) };
    try {
      return await callApi<Imported>(target, "POST", "memory/atoms/import", body, randomUUID());
    } catch (error) {
      const message = errorMessage(error);
      if (message.includes("(503 unavailable)") && batch.length > 1) {
        pace.atoms = Math.ceil(batch.length / 2);
        continue;
      }
      const index = /"atoms\.(\d+)[."]/.exec(message)?.[1];
      const [refused] = index === undefined ? [] : batch.splice(Number(index), 1);
      if (refused === undefined) throw error;
      leftOut.push({ what: refused.where, why: withoutPlace(message) });
    }
  }
  return { outcomes: [], droppedLinks: 0 };
}

async function sendInParts(target: Target, sending: Sending, batch: ImportItem[]): Promise<Imported> {
  const rest = batch.splice(sending.pace.atoms);
  const first = await sendBatch(target, sending, batch);
  const second = await sendBatch(target, sending, rest);
  batch.push(...rest);
  const outcomes = [...first.outcomes, ...second.outcomes];
  return { outcomes, droppedLinks: first.droppedLinks + second.droppedLinks };
}

/** The server counts the atoms of a batch; a person knows them by where they stand. */
function withoutPlace(message: string): string {
  return message
    .replace(/In "atoms\.\d+": /g, "")
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
