import { declareLimits, limitSpec } from "../access/declared-limits.ts";
import type { TeamRecord } from "../access/membership.ts";
import { libraryRefSpec, memberSpec, type TeamMember, teamMember } from "../access/team-member.ts";
import { defined } from "../defined.ts";
import type { LeakAction } from "../key/stored/leak.ts";
import type { Spec } from "../kinds/kinds.ts";

/** A team as it is declared, in the stored form: all but its webhooks, whose secrets are stored apart. */
export type DeclaredTeam = Pick<TeamRecord, "allowedCIDRs" | "limits"> & {
  readonly displayName: string;
  readonly namespaces: readonly string[];
  readonly members: readonly TeamMember[];
  /** Default library of the MCP agent policy; it need not exist yet. */
  readonly defaultLibrary: { readonly namespace: string; readonly name: string } | null;
  readonly leakAction: LeakAction;
};

/** Parses a valid spec, for a team of this name. */
export function declareTeam(spec: Omit<Spec<"PlatformTeam">, "webhooks">, name: string): DeclaredTeam {
  return {
    displayName: spec.displayName ?? name,
    namespaces: spec.namespaces,
    members: spec.members.map(teamMember),
    defaultLibrary: spec.mcpAgentPolicy?.defaultLibraryRef ?? null,
    leakAction: spec.leaks?.action ?? "Alert",
    allowedCIDRs: spec.allowedCIDRs ?? null,
    limits: declareLimits(spec.rateLimit, spec.budgets),
  };
}

type TeamLists = Pick<DeclaredTeam, "members" | "namespaces">;

/** Returns the members and namespaces of a team as they are stored: each once, whatever order they are declared in. */
export function storedLists({ members, namespaces }: TeamLists): TeamLists {
  return { members: merged(members), namespaces: [...new Set(namespaces)].sort() };
}

/** Merges members to one for each role of a name. Declared twice, it reaches the libraries of both declarations. */
function merged(members: readonly TeamMember[]): TeamMember[] {
  const ways = Map.groupBy(members, ({ role, kind, value }) => JSON.stringify([kind, value, role]));
  const inOrder = [...ways].sort(([one], [other]) => (one < other ? -1 : 1));
  return inOrder.flatMap(([, same]) => {
    const [first] = same;
    if (first === undefined) return [];
    const { role, kind, value } = first;
    const libraryRefs = same.flatMap(({ libraryRefs = [] }) => libraryRefs);
    const isRestricted = same.every(({ libraryRefs }) => libraryRefs !== undefined);
    return [{ role, kind, value, ...(isRestricted && { libraryRefs }) }];
  });
}

/** Writes a team as the spec that declares it, without what need not be declared. */
export function teamSpec(team: DeclaredTeam & { readonly name: string }) {
  const { name, displayName, namespaces, members, defaultLibrary, leakAction, allowedCIDRs, limits } = team;
  return {
    ...(displayName !== name && { displayName }),
    namespaces,
    members: members.map(memberSpec),
    ...(defaultLibrary && { mcpAgentPolicy: { defaultLibraryRef: libraryRefSpec(defaultLibrary) } }),
    ...(leakAction !== "Alert" && { leaks: { action: leakAction } }),
    ...(allowedCIDRs && { allowedCIDRs }),
    ...(limits && defined({ rateLimit: limitSpec(limits), budgets: limits.budgets })),
  };
}
