import { styleText } from "node:util";
import { API_VERSION, type Kind } from "../../domain/kinds/kinds.ts";
import { outputText, type StructuredFormat, streamedText } from "../output/output.ts";
import { plainText } from "../output/plain-text.ts";
import { createTable, type Paint } from "../output/table.ts";
import type { ListedObject } from "../source/source.ts";
import { columnsOf } from "./columns.ts";

/** Formats that `-o` takes, named as in kubectl. */
export const FORMATS = ["table", "wide", "name", "json", "yaml"] as const;
export type Format = (typeof FORMATS)[number];

/** Objects of one or several kinds, in the order in which they are shown. */
export type ObjectsByKind = readonly { readonly kind: Kind; readonly objects: readonly ListedObject[] }[];

export type Printer = {
  /**
   * Formats objects: a table for each kind, their names, or a List as kubectl would print it. Without objects the text
   * is empty if programs read it, since they take each line for an object.
   *
   * @param isOne true if one object was asked for by its name: then it is not in a List
   */
  all(shown: ObjectsByKind, isOne: boolean): string;
  /**
   * Formats one more object: a line of JSON, a document of YAML, a name, or a row. If the row above is of another kind,
   * headings come first.
   */
  change(object: ListedObject): string;
};

type PrintOptions = {
  readonly isColoured: boolean;
  /** True if tables begin with the names of their columns. */
  readonly hasHeadings: boolean;
  /** Current time, in milliseconds since the epoch. */
  readonly now: () => number;
};

export const isStructured = (format: Format): format is StructuredFormat => format === "json" || format === "yaml";

export function createPrinter(format: Format, { isColoured, hasHeadings, now }: PrintOptions): Printer {
  const tables = new Map<Kind, ReturnType<typeof createTable>>();
  /** Kind of the last rows. */
  let kindAbove: Kind | undefined;

  function lines(kind: Kind, objects: readonly ListedObject[]): string[] {
    const { headings, rowOf } = columnsOf(kind, format === "wide");
    const rows = objects.map((object) => rowOf(object, { now: now() }));
    const table = tables.get(kind) ?? createTable(headings, isColoured ? coloured : undefined);
    tables.set(kind, table);
    const isBelow = kindAbove === kind;
    kindAbove = kind;
    if (isBelow) return rows.map(table.line);
    return table.lines(rows).slice(hasHeadings ? 0 : 1);
  }

  return {
    all(shown, isOne) {
      const objects = shown.flatMap((one) => one.objects);
      if (isStructured(format)) {
        const items = objects.map(({ json }) => json);
        return outputText(isOne ? (items[0] ?? {}) : { apiVersion: "v1", kind: "List", items }, format);
      }
      if (format === "name") return objects.map(typeAndName).join("\n");
      if (objects.length === 0) return hasHeadings ? "there are none" : "";
      return shown
        .filter((one) => one.objects.length > 0)
        .map((one) => lines(one.kind, one.objects).join("\n"))
        .join(hasHeadings ? "\n\n" : "\n");
    },
    change(object) {
      if (isStructured(format)) return streamedText(object.json, format);
      return format === "name" ? typeAndName(object) : lines(object.kind, [object]).join("\n");
    },
  };
}

/** Colours the READY column by its status. */
const coloured: Paint = (cell, heading) => {
  if (heading !== "READY") return cell;
  const status = cell.trimEnd();
  const colour = status === "True" ? "green" : status === "False" ? "red" : "yellow";
  return `${styleText(colour, status, { validateStream: false })}${cell.slice(status.length)}`;
};

/** Returns type and name, such as `platformkey.keyplane.dev/agent`. */
export function typeAndName({ kind, metadata }: ListedObject): string {
  return plainText(`${kind.toLowerCase()}.${API_VERSION.split("/")[0]}/${metadata.name}`);
}
