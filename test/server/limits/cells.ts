import { type DrawnRequests, drawRequests, type LimitDraw } from "../../../domain/access/limit-draw.ts";

/** Cells in memory, as the database keeps them, by a clock that the test moves. Times are milliseconds. */
export function cellsInMemory(clock: { now: number }) {
  const paidAt = new Map<string, number>();
  const database = { isAway: false, draws: 0, answersAfter: 0 };
  const late: { readonly at: number; readonly resolve: () => void }[] = [];
  const draw = async (draws: readonly LimitDraw[]): Promise<ReadonlyMap<string, DrawnRequests>> => {
    database.draws++;
    if (database.isAway) throw new Error("the database is away");
    const now = clock.now * 1e3;
    const drawn = new Map(
      draws.map(({ limitId, limit, wanted, areUsed }) => {
        const given = drawRequests(limit, paidAt.get(limitId) ?? 0, now, wanted, areUsed);
        paidAt.set(limitId, given.paidAt);
        return [limitId, given];
      }),
    );
    if (database.answersAfter > 0) {
      await new Promise<void>((resolve) => late.push({ at: clock.now + database.answersAfter, resolve }));
    }
    return drawn;
  };
  /** Lets time pass, and what is due by then. */
  const passTo = async (now: number) => {
    clock.now = now;
    while (late[0] !== undefined && late[0].at <= now) late.shift()?.resolve();
    for (let turn = 0; turn < 12; turn++) await undefined;
  };
  return { database, draw, passTo };
}
