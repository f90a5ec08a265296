import type { Db, Tx } from "../../store/database/change.ts";
import { holdTeam } from "../../store/objects/held-teams.ts";
import { rolesOf } from "../../store/teams/team-roles.ts";
import { requireSessionStill } from "../auth/management/principal-now.ts";
import type { InstallationRole, Principal } from "../auth/principal.ts";
import { type Problem, problem } from "../http/problems/problem.ts";

/** Actions on a team's objects. Every role in the team may look at them. */
export const ACTIONS = [
  "make keys",
  "change keys",
  "suspend keys",
  "revoke keys",
  "change gateways",
  "change libraries",
  "change the team",
] as const;
export type Action = (typeof ACTIONS)[number];
/** Actions that only those who run the installation may take. */
type InstallationAction = "make a team" | "delete a team" | "end sessions" | "forget policies" | "release budgets";

const ALLOWED: Readonly<Record<Action, readonly string[]>> = {
  "make keys": ["admin", "member"],
  "change keys": ["admin", "member"],
  "suspend keys": ["admin", "member"],
  "revoke keys": ["admin", "member"],
  "change gateways": ["admin"],
  "change libraries": ["admin"],
  "change the team": ["admin"],
};

/** Actions that the bootstrap token may take in every team, and advice for the refusal of all others. */
const BOOTSTRAP: Readonly<
  Record<
    Exclude<InstallationRole, "everything">,
    { readonly may: readonly (Action | InstallationAction)[]; readonly instead: string }
  >
> = {
  bootstrap: {
    may: ["make a team", "make keys", "suspend keys", "revoke keys"],
    instead: "it makes teams and keys, suspends and revokes. Configure an issuer for the rest.",
  },
  emergency: {
    may: ["suspend keys", "revoke keys", "end sessions"],
    instead: "beside an issuer it suspends, revokes and ends sessions. Use a JWT for the rest.",
  },
};

/** Roles of a caller by the team's id. A caller who runs the installation has one role in every team. */
export type Rights = InstallationRole | ReadonlyMap<string, readonly string[]>;

/**
 * Reads what a caller may do now. A person who leaves a team loses access to it with the next request (threats b66).
 */
export async function rightsOf(db: Db, { as }: Principal): Promise<Rights> {
  if (typeof as === "string") return as;
  const roles = new Map<string, string[]>();
  for (const { teamId, role } of await rolesOf(db, as)) roles.set(teamId, [...(roles.get(teamId) ?? []), role]);
  return roles;
}

/** Returns the ids of the teams whose objects the caller may see; undefined for all. */
export function visibleTeams(rights: Rights): readonly string[] | undefined {
  return typeof rights === "string" ? undefined : [...rights.keys()];
}

export function seesTeam(rights: Rights, teamId: string): boolean {
  return typeof rights === "string" || rights.has(teamId);
}

/** True if the caller may take the action in some team, for a page that offers it. */
export function mayInSomeTeam(rights: Rights, action: Action): boolean {
  return typeof rights === "string"
    ? allows(rights, "", action)
    : [...rights.keys()].some((id) => allows(rights, id, action));
}

/** True if a role in a team allows the action there. */
export function roleAllows(role: string, action: Action): boolean {
  return ALLOWED[action].includes(role);
}

/** True if the caller may take the action in a team. */
export function allows(rights: Rights, teamId: string, action: Action): boolean {
  if (rights === "everything") return true;
  if (typeof rights === "string") return BOOTSTRAP[rights].may.includes(action);
  return rights.get(teamId)?.some((role) => roleAllows(role, action)) ?? false;
}

/**
 * Requires the right to an action in a team. @throws Problem `forbidden` if the caller's roles in the team do not allow
 * it
 */
export function requireRight(rights: Rights, teamId: string, action: Action): void {
  if (typeof rights === "string") requireInstallation(rights, action);
  else if (!allows(rights, teamId, action)) throw FORBIDDEN[action];
}

/**
 * Keeps an author's right in a team as it is until the transaction ends. Those who run the installation have it by no
 * team.
 */
export async function holdRight(tx: Tx, { as }: Principal, teamId: string): Promise<void> {
  if (typeof as !== "string") await holdTeam(tx, teamId);
}

/**
 * Requires the right to an action as its author has it now, and holds the team and their session until the transaction
 * ends: a change that takes the right waits. They may have lost it while the request waited for a connection or a lock,
 * so call it once these are there, before the effect (threats b117, b428).
 *
 * @throws Problem `forbidden` if they have lost it since the request was let through, `unauthorized` if their session
 * has ended
 */
export async function requireRightStill(tx: Tx, principal: Principal, teamId: string, action: Action): Promise<void> {
  await holdRight(tx, principal, teamId);
  requireRight(await rightsOf(tx, principal), teamId, action);
  await requireSessionStill(tx, principal);
}

/**
 * Requires a caller who runs the installation.
 *
 * @throws Problem `forbidden` for all others, and if the bootstrap token does not allow the action
 */
export function requireInstallation(rights: Rights, action: Action | InstallationAction): void {
  if (typeof rights !== "string") throw problem("forbidden", `Only the installation's own may ${action}.`);
  if (rights === "everything") return;
  const { may, instead } = BOOTSTRAP[rights];
  if (!may.includes(action)) {
    throw problem("forbidden", `The bootstrap token does not let you ${action}: ${instead}`);
  }
}

const FORBIDDEN: Readonly<Record<Action, Problem>> = {
  "make keys": forbidden("make keys"),
  "change keys": forbidden("change keys"),
  "suspend keys": forbidden("suspend keys"),
  "revoke keys": forbidden("revoke keys"),
  "change gateways": forbidden("change gateways"),
  "change libraries": forbidden("change libraries"),
  "change the team": forbidden("change the team"),
};

function forbidden(action: Action): Problem {
  return problem(
    "forbidden",
    `Your role in this team does not let you ${action}: it takes ${ALLOWED[action].join(" or ")}.`,
  );
}
