import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { watchInitialSync } from "../../../cli/up/initial-sync.ts";
import { openFilesCluster } from "../../../controller/cluster/files/cluster.ts";
import { systemClock } from "../../../runtime/clock.ts";
import { makeHome, team } from "../up.ts";

/** A folder of manifests as a cluster, with what knows when all of it has been looked at. */
async function open(manifest: string, maxWaitMs?: number) {
  const home = makeHome();
  home.write("all.yaml", manifest);
  const cluster = await openFilesCluster({
    ...{ manifests: home.manifests, data: home.data, clock: systemClock, randomUuid: randomUUID },
    lostClusterId: async () => undefined,
    log: () => {},
    signal: new AbortController().signal,
  });
  onTestFinished(async () => {
    await cluster.close();
    home.remove();
  });
  const sync = watchInitialSync(cluster, maxWaitMs);
  await sync.cluster.watch(() => {}, new AbortController().signal);
  let isDone = false;
  sync.done.then(() => {
    isDone = true;
  });
  /** As it is once all that has happened so far is known. */
  const state = () => setImmediate().then(() => isDone);
  return { sync, state };
}

test("the initial sync of a folder that declares nothing is done once it has been listed", async () => {
  const { state } = await open("");
  expect(await state()).toBe(true);
});

test("the initial sync is done once all that is declared has been brought to rest", async () => {
  const { sync, state } = await open(team("research", "dev") + team("others", "prod"));
  sync.reconciled({ kind: "PlatformTeam", namespace: "", name: "research" });
  expect(await state()).toBe(false);
  sync.reconciled({ kind: "PlatformTeam", namespace: "", name: "others" });
  expect(await state()).toBe(true);
});

test("the initial sync is done after its time, and says how many have not been looked at", async () => {
  const { sync } = await open(team("research", "dev") + team("others", "prod"), 2_000);
  sync.reconciled({ kind: "PlatformTeam", namespace: "", name: "research" });
  expect(await sync.done).toBe(1);
});

test("the initial sync of a folder that is still being read after its time says that it knows nothing of it", async () => {
  const { sync } = await open(team("research", "dev"), 0);
  expect(await sync.done).toBe(null);
});
