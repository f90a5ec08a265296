import { plainText } from "./plain-text.ts";

type Row = readonly string[];

/** Styles a padded cell. It must not change the cell's width on a terminal. */
export type Paint = (cell: string, heading: string) => string;

/** Formats rows in columns, as kubectl does: headings, three spaces between columns, no trailing blanks. */
export function formatTable(headings: Row, rows: readonly Row[]): string {
  return createTable(headings).lines(rows).join("\n");
}

/** Creates a table whose rows come one by one. Columns grow with their content; lines that were printed before stay. */
export function createTable(headings: Row, paint: Paint = (cell) => cell) {
  const widths = headings.map((heading) => heading.length);

  function line(row: Row, painted: Paint): string {
    const last = row.findLastIndex((cell) => cell !== "");
    return row
      .slice(0, last + 1)
      .map((cell, i) => painted(i === last ? cell : cell.padEnd(widths[i] ?? 0), headings[i] ?? ""))
      .join("   ");
  }

  function widen(rows: readonly Row[]): Row[] {
    const plain = rows.map((row) => row.map(plainText));
    // One by one: a function takes no 200,000 arguments.
    for (const row of plain) {
      for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length);
    }
    return plain;
  }

  return {
    /** Returns the headings, and these rows below them. */
    lines(rows: readonly Row[]): string[] {
      const plain = widen(rows);
      return [line(headings, (cell) => cell), ...plain.map((row) => line(row, paint))];
    },
    /** Returns one more row. */
    line(row: Row): string {
      return widen([row])
        .map((plain) => line(plain, paint))
        .join("");
    },
  };
}
