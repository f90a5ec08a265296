/** Returns the lines of a table in Markdown. A bar within a cell is escaped. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = (row: readonly string[]) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [cells(head), `|${"---|".repeat(head.length)}`, ...rows.map(cells)];
}
