import { csvLine } from "../../../domain/csv.ts";
import type { AuditJson } from "../../management/audit/audit-json.ts";
import { numeral } from "../column-chart.ts";

/** How an export of the audit log is written. */
export type AuditFormat = {
  readonly ending: string;
  readonly type: string;
  /** Before the first event. */
  readonly head: string;
  /** Events that it has at most. */
  readonly most: number;
  /** Behind the last event, where there are more. */
  readonly cut: string;
  lineOf(event: AuditJson): string;
};

export const JSON_LINES: AuditFormat = {
  ...{ ending: "jsonl", type: "application/x-ndjson", head: "", most: Number.POSITIVE_INFINITY, cut: "" },
  lineOf: (event) => `${JSON.stringify(event)}\n`,
};

/** No spreadsheet is slow with so many. */
const MOST_ROWS = 50_000;
const COLUMNS = [
  ...["Time (UTC)", "Action", "Namespace", "Name", "Team", "By", "Their name", "From", "Why", "Detail", "Key id", "Id"],
];

/** For spreadsheets: what a person writes or does is in a column of its own, and the rest in one as JSON. */
export const AUDIT_CSV: AuditFormat = {
  ...{ ending: "csv", type: "text/csv", head: `${csvLine(COLUMNS)}\r\n`, most: MOST_ROWS },
  cut: `${csvLine([`Cut here: there are more events than the ${numeral(MOST_ROWS)} latest. Search for fewer, or export as JSON Lines, which has all.`])}\r\n`,
  lineOf({ id, at, action, actor, team, keyId, namespace, name, detail }) {
    const { actorName, address, why, ...rest } = detail;
    const cells = [at, action, namespace, name, team, actor, actorName, address, why, JSON.stringify(rest), keyId];
    return `${csvLine([...cells.map((cell) => (typeof cell === "string" ? cell : "")), id])}\r\n`;
  },
};
