import { defaultLibraryOf } from "../../domain/access/library-access.ts";
import { listLibraries } from "../../store/memory/reachable-libraries.ts";
import type { CursorScope } from "../memory/cursor.ts";
import { libraryName, reachOf } from "../memory/libraries.ts";
import { page } from "../memory/paging.ts";
import { CURSOR } from "../memory/schemas.ts";
import { shownBytes } from "./atom-text.ts";
import { defineTool, LIST_LIMIT, NEXT_CURSOR, nextPageHint, placeOfCursor, READ_ANNOTATIONS } from "./tool.ts";

const LIBRARY_OUTPUT = {
  type: "object",
  required: ["name", "displayName", "description", "isDefault"],
  properties: {
    name: { type: "string", description: 'What the argument "library" takes.' },
    displayName: { type: "string" },
    description: { type: "string", description: "What the library is for." },
    isDefault: { type: "boolean", description: "It is meant where a call names none." },
  },
} as const;

type LibraryJson = { name: string; displayName: string; description: string; isDefault: boolean };

export const memoryLibraries = defineTool<{ limit: number; cursor?: string }>(
  {
    operation: "mcp.memory_libraries",
    title: "List libraries",
    description:
      'Lists the libraries that you may use, what each is for, and which one is meant where a call names none. Use it before you save something that may not belong in the default library, and when a call says that there is no such library: a name goes into the argument "library" of the other tools.',
    annotations: READ_ANNOTATIONS,
    input: { limit: { ...LIST_LIMIT, default: 100 }, cursor: CURSOR },
    output: { items: { type: "array", items: LIBRARY_OUTPUT }, nextCursor: NEXT_CURSOR },
  },
  async ({ db, key }, { limit, cursor }) => {
    const scope: CursorScope = { list: "libraries", teamId: key.teamId, library: null, filter: null };
    const after = placeOfCursor(scope, cursor)?.id ?? null;
    const libraries = await listLibraries(db, reachOf(key), { after, limit });
    const defaultId = defaultLibraryOf(key);
    const { items, nextCursor } = page(libraries, {
      scope,
      positionOf: ({ id }) => ({ at: 0, id }),
      json: (library) => ({
        name: libraryName(key, library),
        displayName: library.displayName,
        description: library.description,
        isDefault: library.id === defaultId,
      }),
      bytesOf: shownBytes(libraryText),
    });
    const text = items.length === 0 ? NO_LIBRARIES : items.map(libraryText).join("\n");
    return { structured: { items, nextCursor }, text: text + nextPageHint(nextCursor) };
  },
);

const NO_LIBRARIES =
  "This key may reach no library: a MemoryLibrary has to be declared for its team, and allowed by the PlatformKey's libraryAccess.";

function libraryText({ name, displayName, description, isDefault }: LibraryJson): string {
  const title = displayName === "" || displayName === name ? name : `${name} (${displayName})`;
  return `- ${title}${isDefault ? ", the default" : ""}${description === "" ? "" : `: ${description}`}`;
}
