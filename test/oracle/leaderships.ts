/** Who may write to the store, and when that changed hands: as far as it can be observed. */
import { sql } from "kysely";
import type { Store } from "../../store/database/store.ts";
import type { Report } from "./report.ts";

/** In milliseconds since the epoch: the look before it, and the one that showed it. */
export type Takeover = { readonly after: number; readonly before: number };

export type Leaderships = {
  look(store: Store): Promise<void>;
  readonly takeovers: readonly Takeover[];
  /** How many leaderships there have been: each overlaps with the controllers' own, and counts as one of that. */
  count(): number;
};

export function watchLeaderships(): Leaderships {
  const takeovers: Takeover[] = [];
  let last = { terms: "", count: 0, at: Date.now() };
  return {
    takeovers,
    count: () => last.count,
    async look(store) {
      const { rows } = await sql<{ terms: string; count: number }>`
        select coalesce(string_agg(term::text, ' ' order by cluster), '') as terms,
          coalesce(max(epoch), 0)::int as count from leaders`.execute(store.db);
      const now = { terms: "", count: 0, ...rows[0], at: Date.now() };
      if (now.terms !== last.terms) takeovers.push({ after: last.at, before: now.at });
      last = now;
    },
  };
}

/** How many leaderships a fault may cost: of the one that it ends, and of one that it brings. */
const TAKEOVERS_A_FAULT = 3;

/** Controllers do not depose one another again and again (threats c72). */
export function checkTakeovers(count: number, faults: number, report: Report): void {
  if (count <= TAKEOVERS_A_FAULT * (faults + 1)) return;
  report.violation({ rule: "one leads", subject: "leaders", what: `${count} leaderships with ${faults} faults` });
}
