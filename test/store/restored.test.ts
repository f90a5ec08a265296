import { expect, test } from "vitest";
import { change } from "../../store/database/change.ts";
import type { Store } from "../../store/database/store.ts";
import { changesAfter } from "../../store/feed/change-feed.ts";
import { saveTeam } from "../../store/teams/teams.ts";
import { openEmbedded } from "../env/database/embedded-database.ts";
import { teamDraft } from "./fixtures.ts";
import { feedHead } from "./questions.ts";

/** More than the transactions that restore a database. */
const LAST = 10;

test("a change reaches the feed of a restored database, whose transactions bear the numbers of dumped ones", async () => {
  const draft = teamDraft();
  const declare = (store: Store, generation: number) =>
    change(store, null, (tx) => saveTeam(tx, { ...draft, namespaces: [`ns-${generation}`], generation }));
  // Of two new databases both number their transactions from the same number.
  const dumped = await openEmbedded();
  for (let generation = 1; generation <= LAST; generation++) await declare(dumped, generation);
  const teams = await dumped.db.selectFrom("teams").selectAll().execute();
  const changes = await dumped.db.selectFrom("changes").selectAll().execute();
  await dumped.close();

  const restored = await openEmbedded();
  await restored.db.transaction().execute(async (tx) => {
    await tx.insertInto("teams").values(teams).execute();
  });
  await restored.db.transaction().execute(async (tx) => {
    await tx.deleteFrom("changes").execute();
    await tx.insertInto("changes").values(changes).execute();
    await tx.updateTable("feed").set({ head: changes.length }).execute();
  });
  const before = await feedHead(restored);
  const { seq } = await declare(restored, LAST + 1);
  expect(seq).toBe(before + 1);
  expect((await changesAfter(restored, before, 10)).changes).toMatchObject([{ kind: "team", ref: teams[0]?.id }]);
  await restored.close();
});
