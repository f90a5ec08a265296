import { plainText } from "../plain-text.ts";

/** Lays rows out in columns, as kubectl does: a heading, two spaces at least between columns, no trailing blanks. */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows].map((row) => row.map(plainText));
  const widths = headings.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("   ");
  return all.map((row) => line(row).trimEnd()).join("\n");
}
