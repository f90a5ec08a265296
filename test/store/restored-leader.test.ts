import { sql } from "kysely";
import { describe, expect, type TestContext, test } from "vitest";
import { change, type Fence, takeLeadership } from "../../store/database/change.ts";
import { StaleLeaderError } from "../../store/database/errors.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { restorableDatabase } from "../env/database/restorable-database.ts";
import { until } from "../env/until.ts";

describe("c59: A leader that was paused while the database was restored", () => {
  async function open(context: TestContext) {
    const database = await restorableDatabase(context);
    const store = await openPostgres(database.url);
    context.onTestFinished(() => store.close());
    await migrate(store);
    const answers = () => until("the database answers", () => sql`select 1`.execute(store.db));
    const saved = async () => {
      await database.save();
      await answers();
    };
    const restored = async () => {
      await database.restore();
      await answers();
    };
    const write = (fence: Fence) => change(store, fence, async () => "written");
    return { store, saved, restored, write };
  }

  test("writes nothing any more although the next leader got the same number", async (context) => {
    const { store, saved, restored, write } = await open(context);
    await takeLeadership(store, "c");
    await saved();
    const paused = await takeLeadership(store, "c");
    expect((await write(paused)).result).toBe("written");
    await restored();
    const next = await takeLeadership(store, "c");
    expect(next.epoch).toBe(paused.epoch);
    expect((await write(next)).result).toBe("written");
    await expect(write(paused)).rejects.toThrow(StaleLeaderError);
    await expect(write(paused)).rejects.toThrow(/of another term: the database was restored/);
  });

  test("writes nothing any more although its own leadership is the one in the backup", async (context) => {
    const { store, saved, restored, write } = await open(context);
    const paused = await takeLeadership(store, "c");
    await saved();
    expect((await write(paused)).result).toBe("written");
    await takeLeadership(store, "c");
    await restored();
    await expect(write(paused)).rejects.toThrow(StaleLeaderError);
  });
});
