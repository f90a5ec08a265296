/** What a set of declarations comes to before any controller has seen it: whose a namespace is, what a reference finds. */
import type { DeclaredKey, NamedRef } from "../../domain/key/declared-key.ts";
import type { ResolvedReferences } from "../../domain/key/observed-key.ts";
import type { Kind, Spec } from "../../domain/manifest/kinds.ts";

/** A declaration with its defaults filled in. */
export type Declared<K extends Kind = Kind> = {
  readonly kind: K;
  readonly namespace: string;
  readonly name: string;
  readonly spec: Spec<K>;
};

export type PlanWorld = {
  readonly objects: readonly Declared[];
  /** The name of the team that holds a namespace. */
  teamOf(namespace: string): string | null;
  /** Ids are names here: `namespace/name`. */
  resolve(declared: DeclaredKey, namespace: string): ResolvedReferences;
};

export function isOfKind<K extends Kind>(object: Declared, kind: K): object is Declared & Declared<K> {
  return object.kind === kind;
}

export const titleOf = ({ kind, namespace, name }: Pick<Declared, "kind" | "namespace" | "name">): string =>
  `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;

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
    resolve(declared, namespace) {
      const teamId = teamOf(namespace);
      const missing = new Set<string>();
      const find = (kind: Kind, ref: NamedRef): string | undefined => {
        const found = teamId !== null && teamOf(ref.namespace) === teamId && titles.has(titleOf({ kind, ...ref }));
        if (!found && teamId !== null) missing.add(`${titleOf({ kind, ...ref })} is not in this team.`);
        return found ? `${ref.namespace}/${ref.name}` : undefined;
      };
      return {
        teamId,
        gatewayId: declared.gatewayRef && (find("ModelGateway", declared.gatewayRef) ?? ""),
        gatewayPublicId: null,
        libraryIds: declared.libraryRefs?.flatMap((ref) => find("MemoryLibrary", ref) ?? []) ?? null,
        mcpDefaultLibraryId:
          declared.mcpDefaultLibraryRef && (find("MemoryLibrary", declared.mcpDefaultLibraryRef) ?? ""),
        missing: [...missing],
      };
    },
  };
}
