import type { NamedRef } from "../../../domain/key/declaration/declared-key.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { StoredAuditEvent } from "../../../store/audit/audit-search.ts";
import type { Db } from "../../../store/database/change.ts";
import { refsOfKeys } from "../../../store/keys/search/key-lists.ts";
import { teamNames } from "../../../store/teams/team-names.ts";

/** An event of the audit log as the management API and the console's export show it. */
export type AuditJson = {
  readonly id: number;
  /** RFC 3339. */
  readonly at: string;
  /** As `key.revoked`. */
  readonly action: string;
  readonly actor: string;
  readonly teamId: string | null;
  /** The team's name; null for none, and for one that is gone. */
  readonly team: string | null;
  readonly keyId: string | null;
  /** Of the key or other object that it is about; null where it is about none. */
  readonly namespace: string | null;
  readonly name: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
};

/**
 * Events as they are shown, in the same order.
 *
 * @param teamIds whose keys may be named; undefined for all
 */
export async function auditJson(
  db: Db,
  events: readonly StoredAuditEvent[],
  teamIds: readonly string[] | undefined,
): Promise<AuditJson[]> {
  const { teams, keys } = await namesOfEvents(db, events, teamIds);
  return events.map(({ id, at, kind, actor, teamId, keyId, detail }) => {
    const { namespace = null, name = null } = (keyId === null ? textsOf(detail) : keys.get(keyId)) ?? {};
    const team = teamId === null ? null : (teams.get(teamId) ?? null);
    return { id, at: rfc3339Millis(at), action: kind, actor, teamId, team, keyId, namespace, name, detail };
  });
}

/** By their ids, what teams are called that events are of, and keys that they are about. */
export type EventNames = {
  readonly teams: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, NamedRef>;
};

/** @param teamIds whose keys may be named; undefined for all */
export async function namesOfEvents(
  db: Db,
  events: readonly StoredAuditEvent[],
  teamIds: readonly string[] | undefined,
): Promise<EventNames> {
  return {
    teams: await teamNames(db, unique(events.map(({ teamId }) => teamId))),
    keys: await refsOfKeys(db, unique(events.map(({ keyId }) => keyId)), teamIds),
  };
}

/** The name that is kept with an event, as what is no longer there has it too. */
function textsOf({ namespace, name }: StoredAuditEvent["detail"]): { namespace?: string; name?: string } {
  return {
    ...(typeof namespace === "string" && { namespace }),
    ...(typeof name === "string" && { name }),
  };
}

function unique(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.flatMap((id) => id ?? []))];
}
