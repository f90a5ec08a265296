import { afterAll, beforeAll, expect, test } from "vitest";
import { takeLeadership } from "../../../store/database/change.ts";
import { StaleLeaderError } from "../../../store/database/errors.ts";
import type { Store } from "../../../store/database/store.ts";
import { clusterNames, recordClusterName } from "../../../store/objects/cluster-names.ts";
import { openMigrated } from "../../env/database/engines.ts";

let store: Store;
beforeAll(async () => {
  store = await openMigrated();
});
afterAll(() => store.close());

test("a cluster's name is that of its present leader, and a leader that was deposed changes nothing", async () => {
  const first = await takeLeadership(store, "uid-a/team-a,team-b");
  await recordClusterName(store, first, "first");
  expect(await clusterNames(store.db)).toEqual(new Map([["uid-a", "first"]]));
  const second = await takeLeadership(store, "uid-a");
  await expect(recordClusterName(store, first, "late")).rejects.toThrow(StaleLeaderError);
  await recordClusterName(store, second, "second");
  await takeLeadership(store, "uid-b");
  expect(await clusterNames(store.db)).toEqual(
    new Map([
      ["uid-a", "second"],
      ["uid-b", null],
    ]),
  );
});
