import { defaultLibraryOf } from "../../../domain/access/library-access.ts";
import { libraryName } from "../../../server/libraries/libraries.ts";
import { listLibraries } from "../../../store/libraries/reachable-libraries.ts";
import type { CursorScope } from "../../request/cursor.ts";
import { CURSOR } from "../../request/schemas.ts";
import { cursorBehind, LONGEST_CURSOR } from "../answer/shown-page.ts";
import { compact, fitting, paragraphs, textWithin, tokensIn } from "../definition/budget.ts";
import { defineTool, LIST_LIMIT, PAGE_OUTPUT, positionOfCursor, READ_ANNOTATIONS } from "../definition/tool.ts";

const LIBRARY_OUTPUT = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", description: 'What the argument "library" takes.' },
    displayName: { type: "string", description: "Where it is another one." },
    description: { type: "string", description: "What the library is for." },
    isDefault: { type: "boolean", description: "It is meant where a call names none." },
  },
} as const;

type ShownLibrary = { name: string; displayName?: string; description?: string; isDefault?: boolean };
type LibraryPage = {
  note?: string;
  items?: readonly ShownLibrary[];
  nextCursor?: string | null;
  truncated?: boolean;
};

export const memoryLibraries = defineTool<{ limit: number; cursor?: string }, LibraryPage>(
  {
    operation: "mcp.memory_libraries",
    title: "List libraries",
    description:
      "Lists the libraries that you may use, what each is for, and which is the default. Use it before you save what may not belong in the default one, and when a call says that there is no such library.",
    annotations: READ_ANNOTATIONS,
    input: { limit: { ...LIST_LIMIT, default: 100 }, cursor: CURSOR },
    output: { items: { type: "array", items: LIBRARY_OUTPUT }, ...PAGE_OUTPUT },
    text: pageText,
  },
  async ({ db, key, reach }, { limit, cursor, maxTokens }) => {
    const scope: CursorScope = { list: "libraries", reach, library: null, filter: null };
    const after = positionOfCursor(scope, cursor)?.id ?? null;
    const libraries = await listLibraries(db, reach, { after, limit });
    const defaultId = defaultLibraryOf(key);
    const shown = libraries.items.map((library): ShownLibrary => {
      const name = libraryName(key, library);
      const { displayName, description, id } = library;
      const isOther = displayName !== name && displayName !== "";
      return {
        name,
        ...(isOther && { displayName }),
        ...(description !== "" && { description }),
        ...(id === defaultId && { isDefault: true }),
      };
    });
    const most = { note: CUT_HERE, nextCursor: LONGEST_CURSOR, truncated: true };
    const budget = maxTokens - tokensIn({ ...most, items: [] }, pageText(most));
    const items = fitting(shown, budget, { costOf, shorten });
    const truncated = items.length < shown.length || items[0] !== shown[0];
    return compact({
      note: shown.length === 0 ? NO_LIBRARIES : truncated ? CUT_HERE : "",
      items,
      nextCursor: cursorBehind(libraries, items.length, scope, ({ id }) => ({ at: 0, id })),
      truncated,
    });
  },
);

const NO_LIBRARIES =
  "This key may reach no library: a MemoryLibrary has to be declared for its team, and allowed by the PlatformKey's libraryAccess.";
const CUT_HERE = "This is cut to maxTokens.";

function costOf(library: ShownLibrary): number {
  return tokensIn(library, libraryText(library));
}

function shorten({ description = "", ...library }: ShownLibrary, tokens: number): ShownLibrary {
  const budget = tokens - costOf({ ...library, description: "" });
  return { ...library, description: textWithin(description, Math.max(0, budget)) };
}

function pageText({ note, items = [], nextCursor }: LibraryPage): string {
  return paragraphs(note, items.map(libraryText).join("\n"), nextCursor && `There is more: pass cursor ${nextCursor}`);
}

function libraryText({ name, displayName, description, isDefault }: ShownLibrary): string {
  const title = displayName === undefined ? name : `${name} (${displayName})`;
  return `- ${title}${isDefault ? ", the default" : ""}${description === undefined ? "" : `: ${description}`}`;
}
