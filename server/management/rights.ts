import type { Db } from "../../store/change.ts";
import { rolesOf } from "../../store/team-roles.ts";
import type { Manager } from "../auth/manager.ts";
import { type Problem, problem } from "../errors.ts";

/** What may be done to what is a team's. Everybody who has a role in the team may look at it. */
export type Action = "change keys" | "change gateways" | "change libraries" | "change the team";

const ALLOWED: Readonly<Record<Action, readonly string[]>> = {
  "change keys": ["admin", "member"],
  "change gateways": ["admin"],
  "change libraries": ["admin"],
  "change the team": ["admin"],
};

/** The roles that somebody has, by the team's id; `everything` for the installation's own. */
export type Rights = "everything" | ReadonlyMap<string, readonly string[]>;

/** Reads what somebody may do now: whoever has left a team loses it with the next request (threats b66). */
export async function rightsOf(db: Db, { names }: Manager): Promise<Rights> {
  if (names === null) return "everything";
  const roles = new Map<string, string[]>();
  for (const { teamId, role } of await rolesOf(db, names)) roles.set(teamId, [...(roles.get(teamId) ?? []), role]);
  return roles;
}

/** The teams whose objects are there for somebody; undefined for all. */
export function visibleTeams(rights: Rights): readonly string[] | undefined {
  return rights === "everything" ? undefined : [...rights.keys()];
}

export function sees(rights: Rights, teamId: string): boolean {
  return rights === "everything" || rights.has(teamId);
}

/** @throws Problem `forbidden` where the roles that somebody has in the team do not allow it */
export function requireRight(rights: Rights, teamId: string, action: Action): void {
  if (rights === "everything" || rights.get(teamId)?.some((role) => ALLOWED[action].includes(role))) return;
  throw FORBIDDEN[action];
}

/** @throws Problem `forbidden` for anybody but the installation's own */
export function requireEverything(rights: Rights, what: string): void {
  if (rights !== "everything") throw problem("forbidden", `Only the installation's own may ${what}.`);
}

const FORBIDDEN: Readonly<Record<Action, Problem>> = {
  "change keys": forbidden("change keys"),
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
