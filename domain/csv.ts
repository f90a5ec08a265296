/**
 * Positions at which a spreadsheet takes a text, or a part of it behind a separator, for the beginning of a formula. In
 * countries with decimal commas a spreadsheet splits lines at semicolons, and then ignores quotes within a cell.
 */
const FORMULA = /^(?=[\t\r\n])|(?=[=+\-@\uff1d\uff0b\uff0d\uff20])(?<=^|[;\t\r\n]"*)/g;

/**
 * Formats one line of a table for spreadsheets (RFC 4180), without its newline. A text that a spreadsheet would run as
 * a
 * formula gets an apostrophe before it.
 */
export function csvLine(cells: readonly (string | number)[]): string {
  return cells.map(csvCell).join(",");
}

function csvCell(cell: string | number): string {
  if (typeof cell === "number") return String(cell);
  const text = cell.replace(FORMULA, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
