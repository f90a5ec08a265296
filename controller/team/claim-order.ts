/**
 * Choice of the team that gets a namespace that several teams claim and none holds: the team that comes first and can
 * have it. Failures are kept in memory alone: after a restart each team has its attempts again.
 */
import { firstClaims } from "../../domain/namespace-claims.ts";
import { StaleDeclarationError } from "../../store/database/errors.ts";
import type { Cluster, DeclaredObject } from "../cluster/port.ts";

/**
 * Number of failures in a row, some seconds by the queue's back-off, after which a team's claims hold up no other
 * team's.
 */
const MAX_FAILURES = 10;

type Team = DeclaredObject<"PlatformTeam">;

export type ClaimOrder = {
  /**
   * Returns the namespaces that a team claims and that another team gets before it, each with that other team's name.
   */
  othersBefore(team: Team): ReadonlyMap<string, string>;
  /**
   * Stores a team, and counts its failures.
   *
   * @param task throws StaleDeclarationError if the declaration, as it is, is never stored
   */
  attempt<T>(team: Team, task: () => Promise<T>): Promise<T>;
  /** Notes that there is no such team any more. */
  forget(name: string): void;
};

export function createClaimOrder(cluster: Pick<Cluster, "list">): ClaimOrder {
  /** Failures by the team's name. */
  const failures = new Map<string, Pick<Team, "uid" | "generation"> & { readonly count: number }>();

  function failuresOf({ name, uid, generation }: Team): number {
    const known = failures.get(name);
    return known?.uid === uid && known.generation === generation ? known.count : 0;
  }

  function failed(team: Team, count: number): void {
    const { name, uid, generation } = team;
    failures.set(name, { uid, generation, count });
  }

  return {
    othersBefore(team) {
      const isInTheWay = (other: Team) => !other.deleting && failuresOf(other) < MAX_FAILURES;
      const others = cluster.list("PlatformTeam").filter((other) => other.name !== team.name && isInTheWay(other));
      const first = firstClaims(
        [team, ...others].map(({ name, createdAt, spec: { namespaces } }) => ({ name, createdAt, namespaces })),
      );
      const claimed = team.spec.namespaces.map((namespace) => [namespace, first.get(namespace) ?? team.name] as const);
      return new Map(claimed.filter(([, name]) => name !== team.name));
    },
    async attempt(team, task) {
      try {
        const result = await task();
        failures.delete(team.name);
        return result;
      } catch (error) {
        failed(team, error instanceof StaleDeclarationError ? Number.POSITIVE_INFINITY : failuresOf(team) + 1);
        throw error;
      }
    },
    forget: (name) => void failures.delete(name),
  };
}
