import { createHash } from "node:crypto";

/** Characters of a folded statement that are compared: what is longer is compared by its beginning and its length. */
const MAX_COMPARED = 2_048;
/** From which share of their parts in common on two statements are near-duplicates. */
const NEAR = 0.7;
/** Two statements that share {@link NEAR} of their parts have a band in common in 99 of 100 cases. */
const BANDS = 12;
const HASHES_OF_BAND = 3;
const SEEDS = Uint32Array.from({ length: BANDS * HASHES_OF_BAND }, (_, i) => mix(i + 1));

const MARKS = /\p{M}+/gu;

/** By what a statement is found again. Each number is of 64 bits, as text. */
export type Sketch = {
  /** The same for the same statement, whatever its case, accents, punctuation and spaces are. */
  readonly same: string;
  /** Statements that are alike have one in common, most probably. */
  readonly bands: readonly string[];
};

/** Lower case without marks, and one space for whatever is neither letter nor number. */
export function foldStatement(text: string): string {
  const folded = text
    // Marks go first too: to put many behind one letter in their order takes the square of their number.
    .replace(MARKS, "")
    .normalize("NFKD")
    .replace(MARKS, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
  // Of signs alone nothing else is left.
  return folded === "" ? text.trim() : folded;
}

/** The sketch of a statement: MinHash over its runs of three characters, which no language splits wrongly. */
export function sketchOf(text: string): Sketch {
  const folded = foldStatement(text);
  const hashes = [...partsOf(folded)].map(hashOf);
  const minima = SEEDS.map((seed) => {
    let least = 0xffff_ffff;
    for (const hash of hashes) least = Math.min(least, mix(hash ^ seed));
    return least;
  });
  const bands = Array.from({ length: BANDS }, (_, band) =>
    digest(["band", band, ...minima.slice(band * HASHES_OF_BAND, (band + 1) * HASHES_OF_BAND)]),
  );
  return { same: digest(["same", folded]), bands };
}

/**
 * How much two statements have in common, 1 for the same one; undefined where they are no near-duplicates. Other numbers
 * make another statement: of two builds, ports or dates each is worth remembering.
 */
export function nearness(one: string, other: string): number | undefined {
  const [a, b] = [foldStatement(one), foldStatement(other)];
  if (a === b) return 1;
  if (Math.min(a.length, b.length) < NEAR * Math.max(a.length, b.length)) return undefined;
  if (numbersOf(a) !== numbersOf(b)) return undefined;
  const [parts, others] = [partsOf(a), partsOf(b)];
  const common = [...parts].filter((part) => others.has(part)).length;
  const share = common / (parts.size + others.size - common);
  return share < NEAR ? undefined : Math.round(share * 100) / 100;
}

function numbersOf(folded: string): string {
  return (folded.match(/\p{N}+/gu) ?? []).join(" ");
}

function partsOf(folded: string): Set<string> {
  const padded = ` ${folded.slice(0, MAX_COMPARED)} `;
  return new Set(Array.from({ length: Math.max(1, padded.length - 2) }, (_, i) => padded.slice(i, i + 3)));
}

function hashOf(part: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < part.length; i++) hash = Math.imul(hash ^ part.charCodeAt(i), 0x0100_0193);
  return hash;
}

/** Spreads 32 bits over all of them, as MurmurHash3 ends. */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

function digest(of: readonly (string | number)[]): string {
  return createHash("sha256").update(JSON.stringify(of)).digest().readBigInt64BE().toString();
}
