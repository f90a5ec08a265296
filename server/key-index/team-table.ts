import type { KeyRecord } from "../../domain/access/key-record.ts";
import { memberRecord } from "../../domain/access/member-access.ts";
import type { MemberToken, TeamRecord } from "../../domain/access/membership.ts";

/** Teams by their ids, and by the names of their members. */
export class TeamTable {
  readonly #teams = new Map<string, TeamRecord>();
  readonly #byMember = new Map<string, Set<string>>();

  all(): TeamRecord[] {
    return [...this.#teams.values()];
  }

  /** Applies the present state of a team. */
  apply(team: TeamRecord): void {
    this.remove(team.teamId);
    this.#teams.set(team.teamId, team);
    for (const { name } of team.members) {
      const teams = this.#byMember.get(name) ?? new Set();
      this.#byMember.set(name, teams.add(team.teamId));
    }
  }

  remove(teamId: string): void {
    for (const { name } of this.#teams.get(teamId)?.members ?? []) {
      const teams = this.#byMember.get(name);
      teams?.delete(teamId);
      if (teams?.size === 0) this.#byMember.delete(name);
    }
    this.#teams.delete(teamId);
  }

  /**
   * Returns what the bearer of a token may do, for each team that they are a member of.
   *
   * @param named the id or the name of the only team that is requested; null for any
   */
  findMember(token: MemberToken, named: string | null): KeyRecord[] {
    const teamIds = new Set<string>();
    for (const name of token.names) for (const teamId of this.#byMember.get(name) ?? []) teamIds.add(teamId);
    return [...teamIds].flatMap((teamId) => {
      const team = this.#teams.get(teamId);
      if (team === undefined || (named !== null && named !== team.teamId && named !== team.name)) return [];
      return memberRecord(token, team) ?? [];
    });
  }

  /** Returns what a member who was found before may do now: the same record if their team has not changed. */
  presentOf(record: KeyRecord): KeyRecord | undefined {
    const { membership } = record;
    if (membership === undefined) return undefined;
    const team = this.#teams.get(membership.team.teamId);
    if (team === membership.team) return record;
    return team && memberRecord(membership.token, team);
  }
}
