import { defined } from "../../domain/defined.ts";
import { shownName } from "../../server/http/schema-error.ts";
import { InvalidAtomError } from "../../store/database/errors.ts";
import { saysNothing } from "../rules/says-nothing.ts";
import type { AtomFields, AtomLink, AtomMetadata } from "../store/rows/atom.ts";
import { assertEverValid } from "../store/writes/atom-writes.ts";
import { readTime } from "./times.ts";

/** Importance of an atom whose writer gives none. */
export const DEFAULT_IMPORTANCE = 5;
/** Bytes of metadata, as JSON. */
const MAX_METADATA = 4_096;

/** Fields of an atom as a caller gives them. */
export type AtomInput = {
  content: string;
  tags?: string[];
  source?: string | null;
  importance?: number;
  metadata?: AtomMetadata;
  links?: AtomLink[];
  expiresAt?: string | null;
  validFrom?: string | null;
  validTo?: string | null;
};
export type AtomChanges = Partial<AtomInput>;

/**
 * Returns a new atom's fields, with defaults for those that were left out.
 *
 * @param now milliseconds since the epoch
 * @throws InvalidAtomError for what no schema checks
 */
export function atomFields(input: AtomInput, now: number): AtomFields {
  const fields = {
    ...{ tags: [], source: null, importance: DEFAULT_IMPORTANCE, metadata: {}, links: [] },
    ...{ expiresAt: null, validFrom: null, validTo: null },
    ...atomChanges(input, now),
    content: input.content,
  };
  assertEverValid(fields);
  return fields;
}

/**
 * Returns the fields of new atoms that are sent together.
 *
 * @param now milliseconds since the epoch
 * @throws InvalidAtomError as {@link atomFields} does, with the index of the atom
 */
export function fieldsOfAll(inputs: readonly AtomInput[], now: number): AtomFields[] {
  return inputs.map((input, index) => {
    try {
      return atomFields(input, now);
    } catch (error) {
      throw inputs.length > 1 ? faultOfOne(error, index) : error;
    }
  });
}

/** Adds to the fault of one of several atoms its index, from 0 on. */
export function faultOfOne(error: unknown, index: number): unknown {
  if (!(error instanceof InvalidAtomError)) return error;
  return new InvalidAtomError(`In "atoms.${index}": ${error.message}`);
}

/** Message for a correction that changes nothing. */
export const NOTHING_CHANGED =
  "Give at least one of content, tags, source, importance, metadata, links, expiresAt, validFrom and validTo: nothing would change.";

/**
 * Returns the fields that are given, and no others, for a correction.
 *
 * @param now milliseconds since the epoch
 * @throws InvalidAtomError for what no schema checks
 */
export function atomChanges(changes: AtomChanges, now: number): Partial<AtomFields> {
  const { content, tags, source, importance, metadata, links, expiresAt, validFrom, validTo } = changes;
  return defined({
    content: content === undefined ? undefined : statement(content),
    tags,
    source,
    importance,
    metadata: metadata && storable(metadata),
    links,
    expiresAt: typeof expiresAt === "string" ? expiry(expiresAt, now) : expiresAt,
    validFrom: typeof validFrom === "string" ? readTime("validFrom", validFrom) : validFrom,
    validTo: typeof validTo === "string" ? readTime("validTo", validTo) : validTo,
  });
}

function statement(content: string): string {
  if (!saysNothing(content)) return content;
  throw new InvalidAtomError('"content" says nothing: write the statement, not spaces or unseen characters alone.');
}

/** Returns metadata that is stored as it was sent. A whole number that JSON's readers change is refused. */
function storable(metadata: AtomMetadata): AtomMetadata {
  if (Buffer.byteLength(JSON.stringify(metadata)) > MAX_METADATA) {
    throw new InvalidAtomError(`"metadata" has more than ${MAX_METADATA} bytes: keep what is longer in the content.`);
  }
  for (const [name, value] of Object.entries(metadata)) {
    if (typeof value !== "number" || Math.abs(value) <= Number.MAX_SAFE_INTEGER) continue;
    const bound = value > 0 ? `more than ${Number.MAX_SAFE_INTEGER}` : `less than ${Number.MIN_SAFE_INTEGER}`;
    throw new InvalidAtomError(
      `"metadata.${shownName(name)}" is ${bound}: write it as text, in which each digit is kept.`,
    );
  }
  return metadata;
}

function expiry(text: string, now: number): number {
  const at = readTime("expiresAt", text);
  if (at <= now) throw new InvalidAtomError('"expiresAt" is over: give a time to come, or null for never.');
  return at;
}
