import { csvLine } from "../../../domain/csv.ts";
import type { AuditJson } from "../../management/audit/audit-json.ts";
import { numeral } from "../column-chart.ts";

/** Format of an export of the audit log. */
export type AuditFormat = {
  readonly ending: string;
  readonly type: string;
  /** Text before the first event. */
  readonly head: string;
  /** Maximum number of events in an export. */
  readonly most: number;
  /** Text after the last event if the export was cut at `most`. */
  readonly cut: string;
  lineOf(event: AuditJson): string;
};

export const JSON_LINES: AuditFormat = {
  ...{ ending: "jsonl", type: "application/x-ndjson", head: "", most: Number.POSITIVE_INFINITY, cut: "" },
  lineOf: (event) => `${JSON.stringify(event)}\n`,
};

/** Maximum number of rows, which no spreadsheet is slow with. */
const MOST_ROWS = 50_000;
const COLUMNS = [
  ...["Time (UTC)", "Action", "Namespace", "Name", "Team", "By", "Their name", "From", "Why", "Detail", "Key id", "Id"],
];

/**
 * CSV for spreadsheets. Who did what, why and from where has columns of its own; the rest of the detail is one column
 * of JSON.
 */
export const AUDIT_CSV: AuditFormat = {
  ...{ ending: "csv", type: "text/csv", head: `${csvLine(COLUMNS)}\r\n`, most: MOST_ROWS },
  cut: `${csvLine([`Cut here: there are more events than the ${numeral(MOST_ROWS)} latest. Search for fewer, or export as JSON Lines, which has all.`])}\r\n`,
  lineOf({ id, at, action, actor, team, keyId, namespace, name, detail }) {
    const { actorName, address, why, ...rest } = detail;
    const cells = [at, action, namespace, name, team, actor, actorName, address, why, JSON.stringify(rest), keyId];
    return `${csvLine([...cells.map((cell) => (typeof cell === "string" ? cell : "")), id])}\r\n`;
  },
};
