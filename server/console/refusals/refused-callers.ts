import type { StoredAuditEvent } from "../../../store/audit/audit-search.ts";

/**
 * Refusals with the same cause and caller: a key, a person whom the management API knows, or all other callers
 * together.
 */
export type RefusedCaller = {
  readonly keyId: string | null;
  /** Caller without a known key, as the audit log names them; undefined unless the management API knows them. */
  readonly principal: string | undefined;
  readonly teamId: string | null;
  readonly cause: string;
  readonly count: number;
  /** Networks of the refused requests, the latest first. */
  readonly networks: readonly string[];
  /** Time of the last refusal that has a row in the log, in milliseconds since the epoch. */
  readonly lastAt: number;
  /**
   * Latest time at which a limit of tokens has capacity again for them, in milliseconds since the epoch; null for other
   * causes.
   */
  readonly until: number | null;
};

/**
 * Groups refusals by caller and cause, the latest first.
 *
 * @param events of the kind `request.refused`, the latest first
 */
export function callersRefused(events: readonly StoredAuditEvent[]): RefusedCaller[] {
  const groups = Map.groupBy(events, ({ keyId, detail }) =>
    JSON.stringify([keyId ?? detail.principal ?? null, detail.reason]),
  );
  return [...groups.values()].flatMap((rows) => {
    const [latest] = rows;
    if (latest === undefined) return [];
    const { keyId, teamId, at, detail } = latest;
    const untils = rows.flatMap((row) => textOf(row.detail.until) ?? []).map((text) => Date.parse(text));
    return {
      ...{ keyId, teamId, lastAt: at, cause: textOf(detail.reason) ?? "", principal: textOf(detail.principal) },
      count: rows.reduce((sum, row) => sum + (typeof row.detail.count === "number" ? row.detail.count : 1), 0),
      until: untils.length === 0 ? null : Math.max(...untils),
      networks: [...new Set(rows.flatMap((row) => textOf(row.detail.network) ?? []))],
    };
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
