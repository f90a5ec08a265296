/** What a spreadsheet takes for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * One line of a table for spreadsheets (RFC 4180), without its newline. A text that a spreadsheet would run as a formula
 * has an apostrophe before it.
 */
export function csvLine(cells: readonly (string | number)[]): string {
  return cells.map(csvCell).join(",");
}

function csvCell(cell: string | number): string {
  if (typeof cell === "number") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
