import type { Complaint, Path } from "./diagnostic.ts";
import { quote } from "./diagnostic.ts";

const WORD = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const PREFIX = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_ANNOTATIONS_BYTES = 256 * 1024;

export type Labels = Readonly<Record<string, string>>;

/** True if a text is a valid label name for the API server, such as `app` or `example.com/app`. */
export function isLabelName(name: string): boolean {
  const [word = "", ...prefix] = name.split("/").reverse();
  return WORD.test(word) && prefix.length <= 1 && prefix.every((one) => PREFIX.test(one));
}

/** True if a text is a valid label value for the API server. */
export function isLabelValue(value: string): boolean {
  return value === "" || WORD.test(value);
}

/** Checks `metadata.labels` or `metadata.annotations` as the API server does. */
export function checkLabels(field: "labels" | "annotations", values: Readonly<Record<string, unknown>>): Complaint[] {
  const path = ["metadata", field];
  const complaints = Object.entries(values).flatMap(([name, value]) => checkLabel(field, [...path, name], name, value));
  const bytes = Object.entries(values).reduce((sum, entry) => sum + sizeOf(entry), 0);
  if (field === "annotations" && bytes > MAX_ANNOTATIONS_BYTES) {
    complaints.push({ path, message: `are larger than ${MAX_ANNOTATIONS_BYTES >> 10} KiB together: shorten them` });
  }
  return complaints;
}

function checkLabel(field: "labels" | "annotations", path: Path, name: string, value: unknown): Complaint[] {
  // The API server checks an annotation's name in lower case.
  const folded = field === "annotations" ? name.replace(/^.*\//, (prefix) => prefix.toLowerCase()) : name;
  if (!isLabelName(folded)) {
    const message = "is no name of one: write such as app or example.com/app, at most 63 characters behind the /";
    return [{ path, of: "key", message }];
  }
  if (typeof value !== "string") return [{ path, message: "must be text: write it in quotes" }];
  if (field === "annotations" || isLabelValue(value)) return [];
  const message = `${quote(value)} is no label's value: use at most 63 letters, digits, -, _ and ., or an annotation`;
  return [{ path, message }];
}

function sizeOf([name, value]: [string, unknown]): number {
  return Buffer.byteLength(name) + (typeof value === "string" ? Buffer.byteLength(value) : 0);
}
