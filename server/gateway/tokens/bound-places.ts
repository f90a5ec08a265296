import {
  type BoundMembers,
  GATEWAY_OPERATIONS,
  SERVED_OPERATIONS,
  type ServedOperation,
} from "../../../domain/access/gateway-operations.ts";

/** Names of members, and these as parsers may take them that look less closely. */
export type Names = { readonly exact: ReadonlySet<string>; readonly folded: ReadonlySet<string> };

/** Where a format says how much a call may use. */
export type BoundPlaces = { readonly [Bound in keyof BoundMembers]: Names };

/** Of each operation whose body is read for it. */
export const BOUND_PLACES: Readonly<Partial<Record<ServedOperation, BoundPlaces>>> = Object.fromEntries(
  SERVED_OPERATIONS.flatMap((operation) => {
    const { usage } = GATEWAY_OPERATIONS[operation];
    return usage === "unread" || usage.bounds === undefined ? [] : [[operation, placesOf(usage.bounds)] as const];
  }),
);

function placesOf(bounds: BoundMembers): BoundPlaces {
  return Object.fromEntries(Object.entries(bounds).map(([bound, names]) => [bound, namesOf(...names)] as const));
}

/** What llama.cpp goes by before the most that a format has. */
export const OVERRULING: Names = namesOf("n_predict");
/** Members that LiteLLM writes over those beside it. */
export const EXTRA_MEMBERS: Names = namesOf("extra_body");
/** Schemas, in which any name may be described that is no reference. */
export const TOOL_SCHEMAS: Names = namesOf("tools");
/** What names a file, wherever it stands. */
const FILES = namesOf("file_id", "file_url", "file_uri");
/** What says of an item that it is a part of the text, or else {@link ITEM_REFERENCE}. */
export const ITEM_KIND: Names = namesOf("type");
export const ITEM_AUTHOR: Names = namesOf("role");
export const ITEM_REFERENCE = "item_reference";

/** Whether a name that begins so may be a file's. @param byte its first, behind the quote */
export function mayNameFile(byte = 0): boolean {
  return (byte | 0x20) === 0x66 || byte === BACKSLASH || byte === UNDERSCORE || byte >= 0x80;
}
const BACKSLASH = 0x5c;
const UNDERSCORE = 0x5f;

/** Whether it names a file. */
export function namesFile(name: string): boolean {
  return FILES.folded.has(fold(name));
}

function namesOf(...names: readonly string[]): Names {
  return { exact: new Set(names), folded: new Set(names.map(fold)) };
}

/**
 * A name as parsers may take it that ignore its case, as Go's do, or which of two styles it is in, as Gemini's, or that
 * take it to end at a NUL, as C's do.
 */
export function fold(name: string): string {
  return name.replace(/\0.*/s, "").replaceAll("_", "").toUpperCase().toLowerCase();
}
