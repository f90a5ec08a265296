import { redactKeys } from "../../redact.ts";

/** Path of a value in a manifest: names of fields and indexes of lists, from the document's root. */
export type Path = readonly (string | number)[];

/** Position in a file; line and column count from 1. */
export type Position = { readonly line: number; readonly column: number };

/** A finding in a manifest: an error, a warning about something surprising, or a note about something left out. */
export type Diagnostic = Position & {
  readonly severity: "error" | "warning" | "note";
  readonly file: string;
  /** The field, such as `spec.scopes[0]`; empty for the whole document. */
  readonly path: string;
  /** Description of the fault and what to write instead. Never a value out of a Secret. */
  readonly message: string;
};

/** A finding of a check, before its position in the file is known. */
export type Complaint = {
  readonly path: Path;
  readonly message: string;
  /** Points at the field's name and not at its value. */
  readonly of?: "key";
  readonly severity?: Diagnostic["severity"];
};

/** Formats a finding as one line that editors and terminals can open: `file:line:col: error: spec.preset: message`. */
export function formatDiagnostic({ file, line, column, severity, path, message }: Diagnostic): string {
  return `${printable(file)}:${line}:${column}: ${severity}: ${path === "" ? "" : `${path}: `}${message}`;
}

export function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    const name = /^[\w./-]{1,64}$/.test(step) ? redactKeys(step) : quote(step);
    return text === "" ? name : `${text}.${name}`;
  }, "");
}

/** Quotes a foreign value on one line and truncated, without a key that was pasted into the wrong field. */
export function quote(value: unknown): string {
  const text = redactKeys(JSON.stringify(value) ?? String(value));
  return printable(text.length > 80 ? `${text.slice(0, 77)}...` : text);
}

/** Replaces characters that would break a line or steer a terminal. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\uFFFD");
}

const MAX_DIAGNOSTICS = 20;

/** Returns the first errors and warnings, and the notes, in order of position: a list of 10,000 is no help. */
export function listDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const { error = [], warning = [], note = [] } = Object.groupBy(diagnostics, ({ severity }) => severity);
  return [...cap(error), ...cap(warning), ...cap(note)].sort((a, b) => a.line - b.line || a.column - b.column);
}

function cap(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const next = diagnostics[MAX_DIAGNOSTICS];
  if (next === undefined) return [...diagnostics];
  return [
    ...diagnostics.slice(0, MAX_DIAGNOSTICS),
    { ...next, path: "", message: "and more of the kind: correct these first" },
  ];
}
