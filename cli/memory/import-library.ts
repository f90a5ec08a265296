import { randomUUID } from "node:crypto";
import { errorMessage } from "../../domain/error-text.ts";
import { callApi, type Target } from "../management/api-call.ts";
import type { AtomLine, Link } from "./library-lines.ts";

/** What one call imports: what the embedded database stores well within the time that a call has. */
const MAX_ATOMS = 100;
const MAX_BYTES = 100_000;

type Imported = { readonly ids: readonly (string | null)[]; readonly droppedLinks: number };

/** What came of an import. */
export type ImportResult = { readonly imported: number; readonly expired: number; readonly droppedLinks: number };

/** The links of an imported atom, and the former ids of those that were to come yet. */
type LaterLinks = {
  readonly id: string;
  readonly links: readonly Link[];
  readonly later: readonly string[];
};

/**
 * Sends the atoms of a file, in batches that are stored whole or not at all, and once, however often one is sent. Links lead by the new ids: those to an
 * atom of a later batch are set when it is there.
 *
 * @param onBatch called before each with how many atoms are imported
 * @throws Error where a batch is refused, saying by which line, or where links cannot be set; and how many are imported
 */
export async function importLibrary(
  target: Target,
  library: string | undefined,
  lines: readonly AtomLine[],
  onBatch: (imported: number) => void,
): Promise<ImportResult> {
  const ofFile = new Set(lines.flatMap(({ atom }) => atom.id ?? []));
  const renamed = new Map<string, string>();
  const forward: LaterLinks[] = [];
  let [imported, expired, droppedLinks] = [0, 0, 0];
  for (const batch of batchesOf(lines)) {
    onBatch(imported);
    const inBatch = new Set(batch.flatMap(({ atom }) => atom.id ?? []));
    const isLater = (id: string) => ofFile.has(id) && !renamed.has(id) && !inBatch.has(id);
    const atoms = batch.map(({ atom }) => {
      if (atom.links === undefined) return atom;
      const links = atom.links.filter(({ id }) => !isLater(id)).map((link) => toNew(renamed, link));
      return { ...atom, links };
    });
    const body = { ...(library === undefined ? {} : { library }), atoms };
    // Of this run alone: the same file may be imported twice.
    const once = randomUUID();
    const answer = await callApi<Imported>(target, "POST", "memory/atoms/import", body, once).catch(
      (error: unknown) => {
        throw byLine(error, batch, imported);
      },
    );
    droppedLinks += answer.droppedLinks;
    for (const [index, { atom }] of batch.entries()) {
      const id = answer.ids[index] ?? null;
      if (id === null) {
        expired++;
        continue;
      }
      imported++;
      const links = atom.links ?? [];
      const later = links.filter((link) => isLater(link.id)).map((link) => link.id);
      if (later.length > 0) forward.push({ id, links, later });
      if (atom.id !== undefined) renamed.set(atom.id, id);
    }
  }
  for (const atom of forward) {
    await setLinks(target, atom, renamed).catch((error: unknown) => {
      throw withoutLinks(error, imported);
    });
    droppedLinks += atom.later.filter((id) => !renamed.has(id)).length;
  }
  return { imported, expired, droppedLinks };
}

function toNew(renamed: ReadonlyMap<string, string>, { rel, id }: Link): Link {
  return { rel, id: renamed.get(id) ?? id };
}

type Present = { readonly revision: number; readonly links: readonly Link[] };

/** Gives an atom its links again, in their order: those that it has, and those to what has come after it. */
async function setLinks(
  target: Target,
  { id, links }: LaterLinks,
  renamed: ReadonlyMap<string, string>,
): Promise<void> {
  const present = await callApi<Present>(target, "GET", `memory/atoms/${id}`);
  const kept = links
    .map((link) => ({ link: toNew(renamed, link), isRenamed: renamed.has(link.id) }))
    .filter(({ link, isRenamed }) => isRenamed || present.links.some((there) => there.id === link.id));
  const body = { id, revision: present.revision, links: kept.map(({ link }) => link) };
  await callApi(target, "PATCH", "memory/atoms", body);
}

/** By then every atom is there: to import the file again would store each a second time. */
function withoutLinks(error: unknown, imported: number): Error {
  const rest = `all ${imported} atoms are imported, and stay, but some links to later ones are not set: that takes a key with memory:read and memory:write`;
  return new Error(`${errorMessage(error)} (${rest})`, { cause: error });
}

function batchesOf(lines: readonly AtomLine[]): AtomLine[][] {
  const batches: AtomLine[][] = [];
  let bytes = 0;
  for (const line of lines) {
    const size = Buffer.byteLength(JSON.stringify(line.atom));
    const last = batches.at(-1);
    if (last === undefined || last.length === MAX_ATOMS || bytes + size > MAX_BYTES) {
      batches.push([line]);
      bytes = size;
    } else {
      last.push(line);
      bytes += size;
    }
  }
  return batches;
}

/** The server counts the atoms of a batch from 0; a person counts the lines of the file. */
function byLine(error: unknown, batch: readonly AtomLine[], imported: number): Error {
  const message = errorMessage(error).replace(
    /"atoms\.(\d+)(?:\.([^"]*))?"/g,
    (_all, index: string, field: string | undefined) => {
      const line = `line ${batch[Number(index)]?.line}`;
      return field === undefined ? line : `${line}, "${field}"`;
    },
  );
  const before = imported === 0 ? "nothing was imported" : `${imported} atoms are imported already, and stay`;
  return new Error(`${message} (${before})`, { cause: error });
}
