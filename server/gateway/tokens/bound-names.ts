import {
  type BoundMembers,
  GATEWAY_OPERATIONS,
  SERVED_OPERATIONS,
  type ServedOperation,
} from "../../../domain/access/gateway-operations.ts";

/** Names of members: as a format spells them, and as lenient parsers may read them. */
export type Names = { readonly exact: ReadonlySet<string>; readonly folded: ReadonlySet<string> };

/** Members by which a format says how much a call may use. */
export type BoundNames = { readonly [Bound in keyof BoundMembers]: Names };

/** Such members for each operation whose body is read for them. */
export const BOUND_NAMES: Readonly<Partial<Record<ServedOperation, BoundNames>>> = Object.fromEntries(
  SERVED_OPERATIONS.flatMap((operation) => {
    const { usage } = GATEWAY_OPERATIONS[operation];
    return usage === "unread" || usage.bounds === undefined ? [] : [[operation, boundNamesOf(usage.bounds)] as const];
  }),
);

function boundNamesOf(bounds: BoundMembers): BoundNames {
  return Object.fromEntries(Object.entries(bounds).map(([bound, names]) => [bound, namesOf(...names)] as const));
}

/** Member that llama.cpp prefers to a format's own limit of tokens. */
export const OVERRULING: Names = namesOf("n_predict");
/** Member whose members LiteLLM writes over those beside it. */
export const EXTRA_MEMBERS: Names = namesOf("extra_body");
/** Member with the schemas of tools: they may describe any name, and no such name is a reference. */
export const TOOL_SCHEMAS: Names = namesOf("tools");
/** Members that name a file, wherever they stand. */
const FILES = namesOf("file_id", "file_url", "file_uri");
/** Member that says that an item is a part of the text, or else an {@link ITEM_REFERENCE}. */
export const ITEM_KIND: Names = namesOf("type");
export const ITEM_AUTHOR: Names = namesOf("role");
export const ITEM_REFERENCE = "item_reference";

/**
 * True if a name that begins so may be a file's.
 *
 * @param byte the name's first, behind the quote
 */
export function mayNameFile(byte = 0): boolean {
  return (byte | 0x20) === 0x66 || byte === BACKSLASH || byte === UNDERSCORE || byte >= 0x80;
}
const BACKSLASH = 0x5c;
const UNDERSCORE = 0x5f;

/** True if a name names a file. */
export function namesFile(name: string): boolean {
  return FILES.folded.has(fold(name));
}

function namesOf(...names: readonly string[]): Names {
  return { exact: new Set(names), folded: new Set(names.map(fold)) };
}

/**
 * Returns a name as lenient parsers may read it: in any case, as Go's do; in either of two styles, as Gemini's do; or
 * up to a NUL, as C's do.
 */
export function fold(name: string): string {
  return name.replace(/\0.*/s, "").replaceAll("_", "").toUpperCase().toLowerCase();
}
