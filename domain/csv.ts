/**
 * Where a spreadsheet takes a text, or what stands behind a mark within it, for the beginning of a formula: where people
 * write decimals with a comma it parts lines at semicolons, and then minds no quotes within a cell.
 */
const FORMULA = /^(?=[\t\r\n])|(?=[=+\-@\uff1d\uff0b\uff0d\uff20])(?<=^|[;\t\r\n]"*)/g;

/**
 * One line of a table for spreadsheets (RFC 4180), without its newline. What a spreadsheet would run as a formula has an
 * apostrophe before it.
 */
export function csvLine(cells: readonly (string | number)[]): string {
  return cells.map(csvCell).join(",");
}

function csvCell(cell: string | number): string {
  if (typeof cell === "number") return String(cell);
  const text = cell.replace(FORMULA, "'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
