import {
  type AuditPosition,
  type AuditSearch,
  type FoundAudit,
  searchAudit,
} from "../../../store/audit/audit-search.ts";
import type { Db } from "../../../store/database/change.ts";
import { auditJson } from "../../management/audit/audit-json.ts";
import type { AuditFormat } from "./audit-formats.ts";

/** Number of events per query: bounds the memory of an export and the work of each query. */
const SLICE = 250;

/** Input of an export of the audit log. */
type AuditExport = {
  readonly db: Db;
  readonly search: Omit<AuditSearch, "after" | "limit">;
  readonly format: AuditFormat;
  /** Checks the caller's rights again. Throws if the caller may no longer read these events. */
  checkAgain(): Promise<void>;
};

/**
 * Yields a line for each event that the search finds, the latest first, up to the limit of the format. Leaves out
 * events that are stored in the meantime.
 */
export async function* auditLines({ db, search, format, checkAgain }: AuditExport): AsyncGenerator<string> {
  if (format.head !== "") yield format.head;
  let after: AuditPosition | undefined;
  let written = 0;
  do {
    if (after !== undefined) await checkAgain();
    const { events, next }: FoundAudit = await searchAudit(db, { ...search, after, limit: SLICE });
    const fitting = (await auditJson(db, events, search.teamIds)).slice(0, format.most - written);
    // Yields an empty piece too: the generator stops here if its reader has left.
    yield fitting.map(format.lineOf).join("");
    written += events.length;
    after = next ?? undefined;
  } while (after !== undefined && written <= format.most);
  if (written > format.most) yield format.cut;
}
