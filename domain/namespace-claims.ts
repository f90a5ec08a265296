/** A team that claims namespaces. */
export type ClaimingTeam = {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly namespaces: readonly string[];
};

/**
 * Returns the team that gets each namespace while no team holds it: the oldest of the teams that claim it, and of
 * equally
 * old teams the first by name.
 *
 * @returns the names of teams, by namespace
 */
export function firstClaims(teams: Iterable<ClaimingTeam>): ReadonlyMap<string, string> {
  const first = new Map<string, ClaimingTeam>();
  for (const team of teams) {
    for (const namespace of team.namespaces) {
      const other = first.get(namespace);
      if (other === undefined || comesBefore(team, other)) first.set(namespace, team);
    }
  }
  return new Map([...first].map(([namespace, { name }]) => [namespace, name]));
}

function comesBefore(a: ClaimingTeam, b: ClaimingTeam): boolean {
  return a.createdAt === b.createdAt ? a.name < b.name : a.createdAt < b.createdAt;
}
