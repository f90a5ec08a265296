/**
 * What a set of declarations comes to before any controller has seen it: whose a namespace is, what a reference finds.
 */

import { titleOf } from "../../controller/cluster/titles.ts";
import type { DeclaredKey, NamedRef } from "../../domain/key/declared-key.ts";
import type { ResolvedReferences } from "../../domain/key/observed-key.ts";
import { type Found, resolveReferences } from "../../domain/key/resolve-references.ts";
import type { Kind, Spec } from "../../domain/manifest/kinds.ts";

/** A declaration with its defaults filled in. */
export type Declared<K extends Kind = Kind> = {
  readonly kind: K;
  readonly namespace: string;
  readonly name: string;
  readonly spec: Spec<K>;
  /** The id of a key that is to be taken over, as `DeclaredObject` of the cluster has it. */
  readonly takeOver: string | null;
};

export type PlanWorld = {
  readonly objects: readonly Declared[];
  /** The name of the team that holds a namespace. */
  teamOf(namespace: string): string | null;
  /** Ids are names here: `namespace/name`. The key's own team is null for a new one. */
  resolve(declared: DeclaredKey, namespace: string, ownTeamId: string | null): ResolvedReferences;
};

export function isOfKind<K extends Kind>(object: Declared, kind: K): object is Declared & Declared<K> {
  return object.kind === kind;
}

/**
 * @param before the world that these declarations come into: of two teams that claim a namespace, the one that holds
 *   it keeps it
 */
export function worldOf(objects: readonly Declared[], before?: PlanWorld): PlanWorld {
  const titles = new Set(objects.map(titleOf));
  const teams = objects.filter((object) => isOfKind(object, "PlatformTeam")).sort((a, b) => (a.name < b.name ? -1 : 1));

  function teamOf(namespace: string): string | null {
    const claimants = teams.filter(({ spec }) => spec.namespaces.includes(namespace)).map(({ name }) => name);
    const holder = before?.teamOf(namespace) ?? null;
    return holder !== null && claimants.includes(holder) ? holder : (claimants[0] ?? null);
  }

  return {
    objects,
    teamOf,
    resolve(declared, namespace, ownTeamId) {
      const teamId = teamOf(namespace);
      const find = (kind: Kind, ref: NamedRef, within: string): Found => {
        // Of a namespace that nobody claims any more, all stays with the team that it had.
        const holder = teamOf(ref.namespace) ?? (teamId === null ? within : null);
        const isThere = holder === within && titles.has(titleOf({ kind, ...ref }));
        return isThere ? { id: `${ref.namespace}/${ref.name}` } : "absent";
      };
      return resolveReferences(declared, { teamId, ownTeamId, find }).references;
    },
  };
}
