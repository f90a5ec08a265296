import { sql } from "kysely";
import { expect, it } from "vitest";
import { generatedPublicId } from "../../domain/public-id.ts";
import { until } from "../env/until.ts";
import { describeWorlds } from "./fixtures/setup.ts";
import { key, NAMESPACE, startWorld, team, type World } from "./fixtures/world.ts";
import { gateway, provider } from "./refused-credentials.ts";

const statusOf = (world: World) => world.get("ModelGateway", "main")?.status;

/** Has the gateway be one that was served under a former uid, and an address of that. */
async function asRestored(world: World): Promise<{ gatewayID: unknown; former: string }> {
  const gatewayID = statusOf(world)?.gatewayID;
  const former = `former-${gatewayID}`;
  await world.stop();
  await sql`update gateways set owner_uid = ${former}, public_id = ${former} where id = ${gatewayID}`.execute(
    world.store.db,
  );
  await world.start();
  await world.rest();
  return { gatewayID, former };
}

describeWorlds("The generated address of a team's gateway, which clients have in their URLs", (setup) => {
  it("b439: stays where a restored database is older than the team", async (context) => {
    const world = await startWorld(context, setup(), provider("sk-1"), gateway);
    const before = statusOf(world);
    expect(before?.publicID).toMatch(/^gw-/);
    const cluster = world.clusterUid();
    await world.stop();
    const { db } = world.store;
    await sql`delete from gateway_upstreams where gateway_id = ${before?.gatewayID}`.execute(db);
    for (const table of ["gateways", "team_namespaces", "teams"])
      await sql`delete from ${sql.table(table)} where cluster = ${cluster}`.execute(db);
    await world.start();
    await until("it is served anew", () => statusOf(world)?.gatewayID !== before?.gatewayID);
    await world.rest();
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("True/Ready");
    expect(statusOf(world)?.publicID).toBe(before?.publicID);
  });

  it("b439: stays where an earlier version derived it from the team's id", async (context) => {
    const world = await startWorld(context, setup(), provider("sk-1"), gateway);
    const { uid = "", status } = world.get("ModelGateway", "main") ?? {};
    const gatewayID = status?.gatewayID;
    await world.stop();
    const gateways = world.store.db.selectFrom("gateways").where("id", "=", String(gatewayID));
    const { team_id } = await gateways.select("team_id").executeTakeFirstOrThrow();
    const earlier = generatedPublicId(uid, team_id);
    await sql`update gateways set public_id = ${earlier} where id = ${gatewayID}`.execute(world.store.db);
    await world.start();
    await until("the status has it", () => statusOf(world)?.publicID === earlier);
    await world.rest();
    expect(statusOf(world)).toMatchObject({ gatewayID, publicID: earlier });
  });

  it("c122: stays where the cluster is restored with new uids, and who ends a key that is bound to it has it refused", async (context) => {
    const spec = { preset: "GatewayDefault", gatewayRef: { name: "main" } };
    const world = await startWorld(context, setup(), provider("sk-1"), gateway, key("caller", spec));
    const caller = await world.plaintextOf("caller");
    const { gatewayID, former } = await asRestored(world);
    await world.declare(key("caller", { ...spec, state: "Revoked" }));
    expect(world.decide(caller, "gateway.chat_completions", former)).toBe("unauthorized");
    expect(statusOf(world)).toMatchObject({ gatewayID, publicID: former });
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("True/Ready");
  });

  it("c122: stays where it is deleted and made again under its name, as by a restore that comes later", async (context) => {
    const world = await startWorld(context, setup(), provider("sk-1"), gateway);
    const { gatewayID, publicID } = statusOf(world) ?? {};
    await world.remove(gateway);
    await world.declare(gateway);
    expect(statusOf(world)).toMatchObject({ gatewayID, publicID });
    expect(world.condition("Ready", "main", "ModelGateway")).toBe("True/Ready");
  });

  it("c122: stays where the cluster was restored with new uids, and its namespace goes to another team and comes back", async (context) => {
    const world = await startWorld(context, setup(), provider("sk-1"), gateway);
    const { gatewayID, former } = await asRestored(world);
    for (const [giving, getting] of [
      ["team-a", "team-b"],
      ["team-b", "team-a"],
    ] as const) {
      await world.declare(team(giving, [`none-${giving}`]), team(getting, [NAMESPACE]));
      await until(`served for ${getting}`, () => statusOf(world)?.team === getting);
      await world.rest();
    }
    expect(statusOf(world)).toMatchObject({ gatewayID, publicID: former });
  });
});
