import { type Document, isScalar, parseDocument, visit } from "yaml";
import { isInexact } from "../../domain/parse-json.ts";
import { isObject } from "./import-item.ts";

/** Markdown file: its front matter, and the text after that. */
export type Page = { readonly matter: Readonly<Record<string, unknown>>; readonly body: string };

/**
 * Reads the front matter of a Markdown file, between two lines of `---` at its beginning. If it is not a map, or has no
 * end, it counts as text.
 *
 * @throws Error if it is not YAML, with the line of the file, or if it has a name twice
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
  const document = parseDocument(yaml, { logLevel: "error", uniqueKeys: false });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = (error.linePos?.[0].line ?? 1) + 1;
    throw new Error(`its front matter is no YAML on line ${line}: quote a text with ": " or a special first character`);
  }
  assertNamesOnce(document);
  keepDigits(document);
  const matter: unknown = contentOf(() => document.toJS({ maxAliasCount: 100 }));
  if (matter !== null && !isObject(matter)) return { matter: {}, body: text };
  return { matter: matter ?? {}, body: behind.replace(/^\n/, "") };
}

/**
 * Checks that no name occurs twice. The parser's own check compares each name with each other, which takes minutes for
 * a hostile file with many names.
 */
function assertNamesOnce(document: Document.Parsed): void {
  visit(document, {
    Map(_, { items }) {
      const names = new Set<string>();
      for (const { key } of items) {
        const name = isScalar(key) ? String(key.value) : undefined;
        if (name !== undefined && names.has(name))
          throw new Error(`its front matter has ${JSON.stringify(name)} twice: keep one of them`);
        if (name !== undefined) names.add(name);
      }
    },
  });
}

/** Puts in place of each whole number that a number of JavaScript does not keep the text that stands there. */
function keepDigits(document: Document.Parsed): void {
  visit(document, {
    Scalar(_, scalar) {
      if (isInexact(scalar.value)) scalar.value = scalar.source ?? scalar.value;
    },
  });
}

function contentOf(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    throw new Error("its front matter repeats itself by too many aliases: write it out");
  }
}
