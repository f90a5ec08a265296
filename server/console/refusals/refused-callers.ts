import type { StoredAuditEvent } from "../../../store/audit/audit-search.ts";

/** Refusals of one cause: of a key, of a person whom the management API knows, or of all others together. */
export type RefusedCaller = {
  readonly keyId: string | null;
  /** Who sent no key that is known, where the management API knows them: as the audit log names them. */
  readonly principal: string | undefined;
  readonly teamId: string | null;
  readonly cause: string;
  readonly count: number;
  /** Where they came from: the last first. */
  readonly networks: readonly string[];
  /** The last that has a row of the log, in milliseconds since the epoch. */
  readonly lastAt: number;
  /** When the last of them has room that waits for a limit of tokens, in milliseconds since the epoch; null for any other. */
  readonly until: number | null;
};

/**
 * Who was refused and why, those first who were refused last.
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
