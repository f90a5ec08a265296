import { Readable } from "node:stream";
import {
  type AuditPosition,
  type AuditSearch,
  type FoundAudit,
  searchAudit,
} from "../../../store/audit/audit-search.ts";
import type { Db } from "../../../store/database/change.ts";
import { problem } from "../../http/errors.ts";
import { auditJson } from "../../management/audit/audit-json.ts";
import type { AuditFormat } from "./audit-formats.ts";

/** Events that are read at a time: so many are in memory, and the database is asked for no more at once. */
const SLICE = 250;
/** The exports of a thread at a time, each for another actor, and of those of a team: a slow reader keeps one for long. */
const MAX_EXPORTS = 16;
const MAX_OF_TEAM = 2;
/** A client that takes nothing for so long is cut off. */
const STALL_MS = 30_000;

/** What an export works with. */
export type AuditExport = {
  readonly db: Db;
  /** The caller, as the audit log names them. */
  readonly actor: string;
  /** One of the caller's, or what stands in its place. */
  readonly teamId: string;
  readonly search: Omit<AuditSearch, "after" | "limit">;
  readonly format: AuditFormat;
  /** Checks the caller's rights again: throws where they may read this no longer. */
  checkAgain(): Promise<void>;
};

/** Writes logs, a few at a time. */
export function createAuditExports(): (task: AuditExport) => Readable {
  /** The teams, by the actors. */
  const underWay = new Map<string, string>();
  return (task) => {
    // A slow client keeps its place for long: each actor has one place.
    if (underWay.has(task.actor)) {
      throw problem("unavailable", "Another export of yours is under way here: try again when it is done.");
    }
    const ofTeam = [...underWay.values()].filter((teamId) => teamId === task.teamId).length;
    if (ofTeam >= MAX_OF_TEAM) {
      throw problem(
        "unavailable",
        "Your team has as many exports under way here as it may: try again when they are done.",
      );
    }
    if (underWay.size >= MAX_EXPORTS) {
      throw problem("unavailable", "Other exports of the audit log are under way here: try again when they are done.");
    }
    underWay.set(task.actor, task.teamId);
    const lines = Readable.from(
      withoutStall(linesOf(task), () => lines.destroy()),
      { objectMode: false },
    );
    lines.once("close", () => underWay.delete(task.actor));
    return lines;
  };
}

/**
 * Every event that is found, the latest first, a line each, as many as the format may have. Those that come meanwhile are
 * left out.
 */
async function* linesOf({ db, search, format, checkAgain }: AuditExport): AsyncGenerator<string> {
  if (format.head !== "") yield format.head;
  let after: AuditPosition | undefined;
  let written = 0;
  do {
    if (after !== undefined) await checkAgain();
    const { events, next }: FoundAudit = await searchAudit(db, { ...search, after, limit: SLICE });
    const fitting = (await auditJson(db, events, search.teamIds)).slice(0, format.most - written);
    if (fitting.length > 0) yield fitting.map(format.lineOf).join("");
    written += events.length;
    after = next ?? undefined;
  } while (after !== undefined && written <= format.most);
  if (written > format.most) yield format.cut;
}

/** Passes on what comes, and calls `onStall` where the client does not take it. */
async function* withoutStall<T>(all: AsyncIterable<T>, onStall: () => void): AsyncGenerator<T> {
  for await (const one of all) {
    const impatience = setTimeout(onStall, STALL_MS).unref();
    try {
      yield one;
    } finally {
      clearTimeout(impatience);
    }
  }
}
