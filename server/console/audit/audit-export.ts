import {
  type AuditPosition,
  type AuditSearch,
  type FoundAudit,
  searchAudit,
} from "../../../store/audit/audit-search.ts";
import type { Db } from "../../../store/database/change.ts";
import { auditJson } from "../../management/audit/audit-json.ts";
import type { AuditFormat } from "./audit-formats.ts";

/** Events that are read at a time: so many are in memory, and the database is asked for no more at once. */
const SLICE = 250;

/** What an export works with. */
type AuditExport = {
  readonly db: Db;
  readonly search: Omit<AuditSearch, "after" | "limit">;
  readonly format: AuditFormat;
  /** Checks the caller's rights again: throws where they may read this no longer. */
  checkAgain(): Promise<void>;
};

/**
 * Every event that is found, the latest first, a line each, as many as the format may have. Those that come meanwhile are
 * left out.
 */
export async function* auditLines({ db, search, format, checkAgain }: AuditExport): AsyncGenerator<string> {
  if (format.head !== "") yield format.head;
  let after: AuditPosition | undefined;
  let written = 0;
  do {
    if (after !== undefined) await checkAgain();
    const { events, next }: FoundAudit = await searchAudit(db, { ...search, after, limit: SLICE });
    const fitting = (await auditJson(db, events, search.teamIds)).slice(0, format.most - written);
    // Also where none was found: where its reader has left, it goes no further than here.
    yield fitting.map(format.lineOf).join("");
    written += events.length;
    after = next ?? undefined;
  } while (after !== undefined && written <= format.most);
  if (written > format.most) yield format.cut;
}
