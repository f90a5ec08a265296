import { Composer, type CST, type Document, Lexer, LineCounter, Parser, type YAMLError } from "yaml";
import { type Diagnostic, formatPath, listDiagnostics, type Path, type Position, printable } from "./diagnostic.ts";
import { FILE_NOT_UTF8, utf8Text } from "./file-text.ts";
import { isRecord } from "./identity.ts";
import { otherKind } from "./other-kinds.ts";
import { offsetOf, readNode } from "./yaml-node.ts";

/** Maximum size of a file. With the maximum depth (our manifests have ten levels) it keeps parsing short and safe. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 100;

/** A document of a file, with its values as in JSON, and a function that finds the position of each. */
export type ManifestDocument = {
  readonly file: string;
  readonly value: unknown;
  /** Returns a finding at the field, or at its nearest parent if it is missing. `of: "key"` points at its name. */
  diagnostic(
    path: Path,
    message: string,
    options?: { of?: "key" | "value"; severity?: Diagnostic["severity"] },
  ): Diagnostic;
};

/** Contents of a file. `documents` has only the documents without a fault. */
type ParsedManifests = {
  readonly documents: ManifestDocument[];
  readonly diagnostics: Diagnostic[];
  /** Number of objects of other kinds that are not in `documents`: one note reports them. */
  readonly passedOver: number;
};

/**
 * Parses a file of YAML or JSON documents. Each item of a `List`, as kubectl prints it, is a document of its own. YAML
 * is
 * parsed as 1.2, with warnings about values that kubectl, which parses 1.1, would take for something else.
 *
 * @param file its name, for the findings
 */
export function parseManifests(content: string | Uint8Array, file: string): ParsedManifests {
  const refused = (message: string): ParsedManifests => {
    const diagnostic: Diagnostic = { severity: "error", file, line: 1, column: 1, path: "", message };
    return { documents: [], diagnostics: [diagnostic], passedOver: 0 };
  };
  // Looked at first: a file may have been read up to here alone, and end within a character.
  if (Buffer.byteLength(content) > MAX_FILE_BYTES) {
    return refused(`the file is larger than ${MAX_FILE_BYTES >> 20} MiB: split it`);
  }
  const decoded = utf8Text(content);
  if (decoded === undefined) return refused(FILE_NOT_UTF8);
  // Of files that were put one behind the other each may begin with a byte order mark. YAML takes off the first.
  const text = decoded.replaceAll(/^\uFEFF(?=---(?:\s|$))|(?<=^---[^\n]*\n)\uFEFF/gm, "");
  const lines = countLines(text);
  const diagnosticAt = (
    offset: number,
    message: string,
    path = "",
    severity: Diagnostic["severity"] = "error",
  ): Diagnostic => ({
    severity,
    file,
    ...positionOf(lines, offset),
    path,
    message,
  });
  const documents: ManifestDocument[] = [];
  const others: { document: ManifestDocument; kind: string }[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const parsed of new Composer({ schema: "core", uniqueKeys: false }).compose(
    tokenise(text, (offset) => diagnostics.push(diagnosticAt(offset, `nested more than ${MAX_DEPTH} levels deep`))),
  )) {
    const read = readNode(parsed.contents);
    const document = documentOf(parsed, file, read.value, lines);
    const other = parsed.errors.length === 0 ? otherKind(read.value, file) : undefined;
    if (other !== undefined) {
      others.push({ document, kind: other });
      continue;
    }
    const broken = parsed.errors[0] ?? parsed.warnings[0];
    if (broken) {
      diagnostics.push(diagnosticAt(broken.pos[0], explainSyntax(broken)));
      continue;
    }
    for (const { offset, path, message } of read.diagnostics)
      diagnostics.push(diagnosticAt(offset, message, formatPath(path)));
    for (const { offset, path, message } of read.warnings) {
      diagnostics.push(diagnosticAt(offset, message, formatPath(path), "warning"));
    }
    if (read.diagnostics.length > 0 || read.value === null) continue;
    for (const item of itemsOf(document)) {
      const kind = otherKind(item.value, file);
      if (kind === undefined) documents.push(item);
      else others.push({ document: item, kind });
    }
  }
  diagnostics.push(...noteOthers(others));
  return { documents, diagnostics: listDiagnostics(diagnostics), passedOver: others.length };
}

/** Returns the items of a `List`, and of lists in it; any other document unchanged. */
function itemsOf(document: ManifestDocument): ManifestDocument[] {
  const { value } = document;
  if (!isRecord(value) || value.kind !== "List" || value.apiVersion !== "v1") return [document];
  const items = Array.isArray(value.items) ? value.items : [];
  const { sops } = value;
  return items.flatMap((item: unknown, index) =>
    itemsOf({
      ...document,
      value: sops !== undefined && isRecord(item) ? { sops, ...item } : item,
      diagnostic: (path, message, options) => document.diagnostic(["items", index, ...path], message, options),
    }),
  );
}

const MAX_KINDS = 5;

function noteOthers(others: readonly { document: ManifestDocument; kind: string }[]): Diagnostic[] {
  const [first] = others;
  if (first === undefined) return [];
  const kinds = [...new Set(others.map(({ kind }) => kind))];
  const names = `${kinds.slice(0, MAX_KINDS).join(", ")}${kinds.length > MAX_KINDS ? " and others" : ""}`;
  const message =
    others.length === 1
      ? `${names} is passed over`
      : `${others.length} objects of other kinds are passed over: ${names}`;
  return [first.document.diagnostic([], message, { severity: "note" })];
}

/** Yields the tokens of the text until it nests too deep: the later steps recurse. */
function* tokenise(text: string, onTooDeep: (offset: number) => void): Generator<CST.Token> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > MAX_DEPTH) return onTooDeep(parser.offset);
  }
  yield* parser.end();
}

function documentOf(parsed: Document.Parsed, file: string, value: unknown, lines: LineCounter): ManifestDocument {
  return {
    file,
    value,
    diagnostic(path, message, { of = "value", severity = "error" } = {}) {
      const offset = offsetOf(parsed.contents, path, of);
      return { severity, file, ...positionOf(lines, offset), path: formatPath(path), message: printable(message) };
    },
  };
}

/** Advice by error code of the YAML library. The library's own messages name parser states, and may quote a Secret. */
const SYNTAX: Readonly<Record<string, string>> = {
  BAD_INDENT: "a line here is indented otherwise than those beside it, or a bracket before it is not closed",
  BLOCK_AS_IMPLICIT_KEY: "write a text that has a colon in it in quotes; or a line here is indented too far",
  MULTILINE_IMPLICIT_KEY: "a line here has no colon: complete it, or remove what a merge has left",
  TAB_AS_INDENT: "a tab indents this line: indent it with spaces",
};

/** Describes a fault of YAML syntax, and quotes nothing that may be secret. */
export function explainSyntax({ code }: YAMLError): string {
  if (code === "MULTIPLE_DOCS") return "a second document begins here: write all of it in one, without ---";
  if (code === "TAG_RESOLVE_FAILED") return "tags are not supported: remove it";
  if (code === "BAD_DQ_ESCAPE")
    return "in double quotes a backslash begins an escape: write it twice, or use single quotes";
  return `this is not YAML: ${SYNTAX[code] ?? "look for a missing quote, bracket or colon, here or just before"}`;
}

function countLines(text: string): LineCounter {
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
  return lines;
}

function positionOf(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}
