import { parseDocument } from "yaml";
import { isObject } from "./import-item.ts";

/** A Markdown file: what its front matter says, and all that is behind it. */
export type Page = { readonly matter: Readonly<Record<string, unknown>>; readonly body: string };

/**
 * Reads the front matter of a Markdown file, between two lines of `---` at its beginning. What is no map of names, or has
 * no end, is text like any other.
 *
 * @throws Error where it is no YAML, saying on which line of the file
 */
export function readPage(text: string): Page {
  const begin = /^---[ \t]*\r?\n/.exec(text);
  // An editor or git has written it for Windows.
  if (begin?.[0].endsWith("\r\n")) return readPage(text.replaceAll("\r\n", "\n"));
  if (begin === null) return { matter: {}, body: text };
  const end = /^---[ \t]*$/m.exec(text.slice(begin[0].length));
  if (end === null) return { matter: {}, body: text };
  const yaml = text.slice(begin[0].length, begin[0].length + end.index);
  const behind = text.slice(begin[0].length + end.index + end[0].length);
  const document = parseDocument(yaml, { logLevel: "error" });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = (error.linePos?.[0].line ?? 1) + 1;
    throw new Error(`its front matter is no YAML on line ${line}: quote a text with ": " or a special first character`);
  }
  const matter: unknown = contentOf(() => document.toJS({ maxAliasCount: 100 }));
  if (matter !== null && !isObject(matter)) return { matter: {}, body: text };
  return { matter: matter ?? {}, body: behind.replace(/^\n/, "") };
}

function contentOf(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    throw new Error("its front matter repeats itself by too many aliases: write it out");
  }
}
