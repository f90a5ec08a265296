/**
 * State that a set of declarations leads to, before any controller has seen it: the teams of namespaces, the targets of
 * references, and the owners of Secrets.
 */
import type { DeclaredKey, NamedRef } from "../../key/declaration/declared-key.ts";
import { secretTarget } from "../../key/declaration/effective.ts";
import type { ResolvedReferences } from "../../key/declaration/resolved-references.ts";
import {
  type ResolvedReference,
  resolveReferences,
  type UnresolvedReference,
} from "../../key/observed/resolve-references.ts";
import type { Kind, Spec } from "../../kinds/kinds.ts";
import { firstClaims } from "../../namespace-claims.ts";
import type { Labels } from "../document/labels.ts";

/** A declaration with its defaults filled in. */
export type WorldObject<K extends Kind = Kind> = {
  readonly kind: K;
  readonly namespace: string;
  readonly name: string;
  readonly spec: Spec<K>;
  readonly labels?: Labels;
  /** Id of a key that is to be taken over, as in `DeclaredObject` of the cluster. */
  readonly takeOver: string | null;
  /** Milliseconds since the epoch; left out if the object does not exist yet, or if its time is not known. */
  readonly createdAt?: number;
};

export type ManifestWorld = {
  readonly objects: readonly WorldObject[];
  /** Returns the name of the team that holds a namespace; null if none does. */
  teamOf(namespace: string): string | null;
  find<K extends Kind>(kind: K, ref: NamedRef): WorldObject<K> | undefined;
  /** True if a team has an object: the object exists, in a namespace that the team holds. */
  isOfTeam(kind: Kind, ref: NamedRef, team: string): boolean;
  /** Resolves a key's references. Ids are names here: `namespace/name`. The key's own team is null for a new key. */
  resolve(
    declared: DeclaredKey,
    namespace: string,
    ownTeamId: string | null,
  ): { readonly references: ResolvedReferences; readonly unresolved: readonly UnresolvedReference[] };
  /**
   * Returns the key that owns a Secret, if it is not the asking key: of several keys that name the Secret, the key that
   * existed before, or else the first by name. Undefined if the Secret is free, or the asking key's own.
   */
  secretTaker(key: NamedRef, secret: string): WorldObject<"PlatformKey"> | undefined;
  /** Returns the key that owns a Secret, as {@link secretTaker} does, whichever it is. */
  secretWriter(secret: NamedRef): WorldObject<"PlatformKey"> | undefined;
  /** Returns the gateway that holds a declared public id: a gateway that existed before, or else the first by name. */
  publicIdHolder(publicId: string): WorldObject<"ModelGateway"> | undefined;
  /** Returns how many keys of its team come before a key: older keys, and keys of equal age with an earlier name. */
  keysBefore(key: WorldObject<"PlatformKey">): number;
};

export function isOfKind<K extends Kind>(object: WorldObject, kind: K): object is WorldObject & WorldObject<K> {
  return object.kind === kind;
}

/**
 * Builds the world of some declarations.
 *
 * @param before the world that these declarations are added to: what an object has there, such as a namespace or a
 * Secret,
 * stays with it
 */
export function worldOf(
  objects: readonly WorldObject[],
  before?: Pick<ManifestWorld, "teamOf" | "find">,
): ManifestWorld {
  const byName = new Map(objects.map((object) => [keyOf(object.kind, object), object]));
  const sorted = objects.toSorted((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1));
  const teams = sorted.filter((object) => isOfKind(object, "PlatformTeam"));
  const gateways = sorted.filter((object) => isOfKind(object, "ModelGateway"));
  const keys = sorted.filter((object) => isOfKind(object, "PlatformKey"));
  const writers = Map.groupBy(
    keys.filter(({ spec }) => spec.state !== "Revoked"),
    ({ namespace, name, spec }) => `${namespace}/${secretTarget(name, spec).name}`,
  );

  const claims = firstClaims(
    teams.map(({ namespace, name, createdAt, spec: { namespaces } }) => {
      const knownAt = createdAt ?? before?.find("PlatformTeam", { namespace, name })?.createdAt;
      // A team that is yet to be made is younger than every existing team.
      return { name, namespaces, createdAt: knownAt ?? Number.POSITIVE_INFINITY };
    }),
  );

  function teamOf(namespace: string): string | null {
    const holder = before?.teamOf(namespace) ?? null;
    const team = holder === null ? undefined : find("PlatformTeam", { namespace: "", name: holder });
    return team?.spec.namespaces.includes(namespace) ? holder : (claims.get(namespace) ?? null);
  }

  function find<K extends Kind>(kind: K, ref: NamedRef): WorldObject<K> | undefined {
    const object = byName.get(keyOf(kind, ref));
    return object !== undefined && isOfKind(object, kind) ? object : undefined;
  }

  /** Returns the first candidate that existed before, or else the first of all. */
  function firstOf<K extends Kind>(candidates: readonly WorldObject<K>[]): WorldObject<K> | undefined {
    return candidates.find(({ kind, namespace, name }) => before?.find(kind, { namespace, name })) ?? candidates[0];
  }

  function secretWriter({ namespace, name }: NamedRef): WorldObject<"PlatformKey"> | undefined {
    return firstOf(writers.get(`${namespace}/${name}`) ?? []);
  }

  let positions: ReadonlyMap<string, number> | undefined;

  return {
    objects,
    teamOf,
    find,
    isOfTeam: (kind, ref, team) => byName.has(keyOf(kind, ref)) && teamOf(ref.namespace) === team,
    resolve(declared, namespace, ownTeamId) {
      const teamId = teamOf(namespace);
      const lookUp = (kind: Kind, ref: NamedRef, within: string): ResolvedReference => {
        // Objects in a namespace that no team claims any more stay with their team.
        const holder = teamOf(ref.namespace) ?? (teamId === null ? within : null);
        const isThere = holder === within && byName.has(keyOf(kind, ref));
        return isThere ? { id: `${ref.namespace}/${ref.name}` } : "absent";
      };
      return resolveReferences(declared, { teamId, ownTeamId, find: lookUp });
    },
    secretWriter,
    secretTaker({ namespace, name }, secret) {
      const taker = secretWriter({ namespace, name: secret });
      return taker?.name === name ? undefined : taker;
    },
    publicIdHolder: (publicId) => firstOf(gateways.filter(({ spec }) => spec.publicID === publicId)),
    keysBefore(key) {
      positions ??= positionsInTeams(keys, teamOf);
      return positions.get(keyOf(key.kind, key)) ?? 0;
    },
  };
}

/** Counts for each key, sorted by name, the keys of the same team that come before it. Revoked keys are not counted. */
function positionsInTeams(
  keys: readonly WorldObject<"PlatformKey">[],
  teamOf: ManifestWorld["teamOf"],
): ReadonlyMap<string, number> {
  const positions = new Map<string, number>();
  const taken = new Map<string | null, number>();
  for (const key of keys.toSorted(byAge)) {
    const team = teamOf(key.namespace);
    const before = taken.get(team) ?? 0;
    positions.set(keyOf(key.kind, key), before);
    if (key.spec.state !== "Revoked") taken.set(team, before + 1);
  }
  return positions;
}

/** Compares objects by age. Objects that do not exist yet come last. */
function byAge(
  { createdAt: a = Number.POSITIVE_INFINITY }: WorldObject,
  { createdAt: b = Number.POSITIVE_INFINITY }: WorldObject,
): number {
  return a === b ? 0 : a - b;
}

function keyOf(kind: Kind, { namespace, name }: NamedRef): string {
  return `${kind}/${namespace}/${name}`;
}
