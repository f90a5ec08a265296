import { API_VERSION, type Kind } from "../../domain/manifest/kinds.ts";
import { outputText, type StructuredFormat, streamedText } from "../output.ts";
import { plainText } from "../plain-text.ts";
import type { Seen } from "../source/source.ts";
import { type CellContext, columnsOf } from "./columns.ts";
import { formatTable } from "./table.ts";

/** What -o takes, as kubectl names it. */
export const FORMATS = ["table", "wide", "name", "json", "yaml"] as const;
export type Format = (typeof FORMATS)[number];

/** Objects of one kind or of several, in the order in which they are shown. */
export type Shown = readonly { readonly kind: Kind; readonly objects: readonly Seen[] }[];

export const isStructured = (format: Format): format is StructuredFormat => format === "json" || format === "yaml";

/**
 * Objects as text: a table for each kind that there is any of, their names, or a List as kubectl would print it.
 *
 * @param isOne whether one object was asked for by its name: then it is not in a List
 */
export function printObjects(shown: Shown, format: Format, context: CellContext, isOne = false): string {
  const objects = shown.flatMap((one) => one.objects);
  if (isStructured(format)) {
    const items = objects.map(({ json }) => json);
    return outputText(isOne ? (items[0] ?? {}) : { apiVersion: "v1", kind: "List", items }, format);
  }
  if (objects.length === 0) return "there are none";
  if (format === "name") return objects.map(nameOf).join("\n");
  return shown
    .filter((one) => one.objects.length > 0)
    .map((one) => table(one.kind, one.objects, format, context))
    .join("\n\n");
}

/** One object that has changed, as whoever waits for changes is told: a row without headings, or a whole document. */
export function printChange(object: Seen, format: Format, context: CellContext): string {
  if (isStructured(format)) return streamedText(object.json, format);
  if (format === "name") return nameOf(object);
  return columnsOf(object.kind, format === "wide")
    .rowOf(object, context)
    .map(plainText)
    .join("   ");
}

function table(kind: Kind, objects: readonly Seen[], format: Format, context: CellContext): string {
  const { headings, rowOf } = columnsOf(kind, format === "wide");
  return formatTable(
    headings,
    objects.map((object) => rowOf(object, context)),
  );
}

/** `platformkey.keyplane.dev/agent` */
function nameOf({ kind, metadata }: Seen): string {
  return `${kind.toLowerCase()}.${API_VERSION.split("/")[0]}/${metadata.name}`;
}
