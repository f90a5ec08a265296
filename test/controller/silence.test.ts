import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openByAnyPlans } from "../env/database/engines.ts";
import { until } from "../env/until.ts";
import { startReplica } from "../server/key-index/replica-fixtures.ts";
import { rowsOf } from "./fixtures/rows.ts";
import { HOUR, key, library, type Manifest, startWorld, team } from "./fixtures/world.ts";

/** Every file of DATA but its lock, with inode and time: one that is written again with the same content shows too. */
async function filesOf(data: string): Promise<string[]> {
  const all: string[] = [];
  for (const entry of await readdir(data, { recursive: true })) {
    const { ino, mtimeNs } = await lstat(join(data, entry), { bigint: true });
    // A folder's time shows drafts in it; what it holds is listed itself.
    if (!entry.startsWith("lock") && !(await lstat(join(data, entry))).isDirectory())
      all.push(`${entry} ${ino} ${mtimeNs}`);
  }
  return all.sort();
}

const EVERYTHING: readonly Manifest[] = [
  team("team-b", ["theirs"], { members: [{ role: "admin", group: "leads" }] }),
  team("team-c", ["theirs"]),
  team("team-d", ["shared"], { mcpAgentPolicy: { defaultLibraryRef: { namespace: "shared", name: "missing" } } }),
  library("handbook", { description: "What everybody should know." }),
  library("teamless", {}, "unclaimed"),
  { kind: "Secret", name: "provider", stringData: { "api-key": "sk-provider" } },
  {
    kind: "ModelGateway",
    name: "main",
    spec: {
      publicID: "settled",
      upstreams: [
        { name: "a", dialect: "openai", baseURL: "https://a.example", credentialRef: { name: "provider" } },
        { name: "b", dialect: "gemini", baseURL: "https://b.example", credentialRef: { name: "absent" } },
      ],
      routes: [{ model: "fast", routeID: "rt-fast", upstream: "a", upstreamModel: "m" }],
    },
  },
  key("plain"),
  key("bound", { preset: "GatewayDefault", gatewayRef: { name: "main" }, allowedModels: ["fast"] }),
  key("restricted", {
    libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook" }] },
    mcpDefaultLibraryRef: { name: "handbook" },
    secret: { template: "McpConfig", creationPolicy: "Orphan" },
  }),
  key("rotating", { rotation: { interval: "100h", trigger: "1" }, expiresAfter: "200h" }),
  key("restarting", { restartTargets: [{ kind: "Deployment", name: "agent" }] }),
  key("suspended", { state: "Suspended" }),
  key("revoked"),
  key("lost", { libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "missing" }] } }),
  key("unclaimed", {}, "unclaimed"),
];

it("a settled world is silent: nothing is written at rest, by a restart, or by looking at it again", async (context) => {
  const store = await openByAnyPlans();
  const { replica, view } = startReplica(store);
  context.onTestFinished(async () => {
    await replica.close();
    await store.close();
  });
  await until("the replica is current", () => view.isCurrent());
  const world = await startWorld(context, { store, view }, ...EVERYTHING);
  await world.declare(key("taken", { secret: { name: "plain" } }));
  await world.declare(key("revoked", { state: "Revoked" }));
  await world.declare(key("plain", { rotation: { trigger: "next" } }));

  const before = { rows: await rowsOf(store), files: await filesOf(world.data) };
  await world.advance(60_000);
  expect({ rows: await rowsOf(store), files: await filesOf(world.data) }, "at rest").toEqual(before);
  for (let restart = 1; restart <= 2; restart++) {
    await world.restart();
    expect(await rowsOf(store), `the store after restart ${restart}`).toEqual(before.rows);
    expect(await filesOf(world.data), `the files after restart ${restart}`).toEqual(before.files);
  }

  await world.advance(25 * HOUR);
  expect(await rowsOf(store), "a deadline that passed is noticed, or this test could not fail").not.toEqual(
    before.rows,
  );
});
