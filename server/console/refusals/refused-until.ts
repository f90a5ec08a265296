import { budgetSize } from "../../../domain/budget/budget.ts";
import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import {
  type BudgetUse,
  readBudgetsOfKeys,
  readBudgetsOfTeams,
  type UsesByOwner,
} from "../../../store/budgets/read-budgets.ts";
import type { Db } from "../../../store/database/change.ts";
import { listObjects } from "../../../store/objects/objects.ts";
import { type Content, type Html, html } from "../../pages/html.ts";
import { moment } from "../times.ts";
import { causeParts } from "./cause-words.ts";

const MINUTE_MS = 60_000;

/** Refusals of one cause, with their key if it is known. */
type RefusedCause = {
  readonly keyId: string | null;
  readonly teamId: string | null;
  readonly cause: string;
  /** Time of the last refusal that has a row in the log, in milliseconds since the epoch. */
  readonly lastAt: number;
  /**
   * Latest time at which a limit of tokens has capacity again for them, in milliseconds since the epoch; null for other
   * causes.
   */
  readonly until: number | null;
};

/** Present use of the budgets that calls were refused by. */
export type RefusingBudgets = { readonly keys: UsesByOwner; readonly teams: UsesByOwner };

/**
 * Reads the budgets by which calls were refused: one query for all keys, and one for all teams.
 *
 * @param now milliseconds since the epoch
 */
export async function readRefusingBudgets(
  db: Db,
  refused: readonly Pick<RefusedCause, "keyId" | "teamId" | "cause">[],
  now: number,
): Promise<RefusingBudgets> {
  const exceeded = refused.filter(({ cause }) => causeParts(cause).kind === "budget_exceeded");
  const [own, others] = [exceeded.filter(isOwn), exceeded.filter((one) => !isOwn(one))];
  const teamIds = [...new Set(others.flatMap(({ teamId }) => teamId ?? []))];
  const teams = teamIds.length === 0 ? [] : await listObjects(db, "team", { teamIds, limit: teamIds.length });
  return {
    keys: await readBudgetsOfKeys(db, [...new Set(own.flatMap(({ keyId }) => keyId ?? []))], now),
    teams: await readBudgetsOfTeams(db, teams, now),
  };
}

function isOwn({ cause }: Pick<RefusedCause, "cause">): boolean {
  return causeParts(cause).of === "key";
}

/** Says until when calls like these are refused; empty if that is unknown. */
export function refusedUntil(refused: RefusedCause, budgets: RefusingBudgets, now: number): Html | string {
  const { of, kind } = causeParts(refused.cause);
  if (kind === "rate_limited") return untilRateFree(refused.lastAt, now);
  if (kind === "token_limited") return untilPaid(refused.until, now);
  if (kind !== "budget_exceeded") return "";
  const uses = isOwn(refused) ? budgets.keys.get(refused.keyId ?? "") : budgets.teams.get(refused.teamId ?? "");
  const refusing = uses?.filter(({ budget }) => budget.of === of && budget.onExhausted === "Refuse") ?? [];
  return refusing.length === 0 ? "" : untilAnew(refusing, now);
}

/**
 * Says when a limit of requests has capacity again. A row of the log has the refusals of its minute, and the limit has
 * capacity for another request within a minute.
 */
function untilRateFree(lastAt: number, now: number): Html {
  const at = (Math.floor(lastAt / MINUTE_MS) + 2) * MINUTE_MS;
  const shown = moment(rfc3339Millis(at), now);
  return at > now ? line(html`Until ${shown} at the latest`) : line(html`Over since ${shown}`);
}

/**
 * Says when a limit of tokens has capacity again, as far as is known: tokens that other calls use meanwhile, or used
 * beyond their reservation, make it later.
 */
function untilPaid(at: number | null, now: number): Html | string {
  if (at === null) return "";
  const shown = moment(rfc3339Millis(Math.ceil(at / MINUTE_MS) * MINUTE_MS), now);
  return at > now ? line(html`Until ${shown}, if nothing more is used before`) : line(html`Over since ${shown}`);
}

function untilAnew(refusing: readonly BudgetUse[], now: number): Html {
  const usedUp = refusing.filter(({ reached }) => reached === 100);
  const last = usedUp.toSorted((a, b) => b.endsAt - a.endsAt)[0];
  if (last === undefined) return line("Not used up at present: calls that it has room for pass");
  const size = budgetSize(last.budget);
  return Number.isFinite(last.endsAt)
    ? line(html`Until ${moment(rfc3339Millis(last.endsAt), now)}, when ${size} reset`)
    : line(`Until the budget is raised: ${size} do not reset`);
}

function line(said: Content): Html {
  return html`<strong class="line">${said}</strong>`;
}
