import type { NamedRef } from "../../../domain/key/declaration/declared-key.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { StoredAuditEvent } from "../../../store/audit/audit-search.ts";
import type { Db } from "../../../store/database/change.ts";
import { refsOfKeys } from "../../../store/keys/search/key-lists.ts";
import { teamNames } from "../../../store/teams/team-names.ts";

/** Event of the audit log as the management API and the console's export show it. */
export type AuditJson = {
  readonly id: number;
  /** Time in RFC 3339. */
  readonly at: string;
  /** Kind of event, such as `key.revoked`. */
  readonly action: string;
  readonly actor: string;
  readonly teamId: string | null;
  /** Name of the team; null for no team, and for a deleted team. */
  readonly team: string | null;
  readonly keyId: string | null;
  /** Namespace of the key or other object that the event is about; null if it is about none. */
  readonly namespace: string | null;
  readonly name: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
};

/**
 * Returns events as they are shown, in the same order.
 *
 * @param teamIds teams whose keys may be named; undefined for all
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

/** Names of the teams that events belong to, and of the keys that events are about, by their ids. */
export type EventNames = {
  readonly teams: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, NamedRef>;
};

/** Reads the names of teams and keys in events. @param teamIds teams whose keys may be named; undefined for all */
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

/** Reads the name that is kept with an event, since it remains after its object is deleted. */
function textsOf({ namespace, name }: StoredAuditEvent["detail"]): { namespace?: string; name?: string } {
  return {
    ...(typeof namespace === "string" && { namespace }),
    ...(typeof name === "string" && { name }),
  };
}

function unique(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.flatMap((id) => id ?? []))];
}
