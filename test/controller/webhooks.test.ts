import { expect, it } from "vitest";
import { openSealed } from "../../store/encryption/keyring.ts";
import { recordUsage } from "../../store/keys/uses/usage.ts";
import { until } from "../env/until.ts";
import { keyring } from "../server/key-index/replica-fixtures.ts";
import { describeWorlds } from "./fixtures/setup.ts";
import { HOUR, key, type Manifest, startWorld, team, type World } from "./fixtures/world.ts";

const secretText = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString("base64")}`;
const secret = (name: string, text: string, namespace = "dev"): Manifest => ({
  kind: "Secret",
  name,
  namespace,
  stringData: { secret: text },
});
const hook = (path: string, name: string, namespace = "dev") => ({
  url: `https://hooks.example.com/${path}`,
  events: ["key.revoked"],
  secretRef: { namespace, name },
});

const DAY = 24 * HOUR;
const keyIdOf = (world: World, name: string) => String(world.get("PlatformKey", name)?.status?.keyID);

describeWorlds("a team's webhook", (setup) => {
  /** By the paths of their URLs, the signing secrets in clear. */
  async function stored(world: World) {
    const id = String(world.get("PlatformTeam", "team-a", "")?.status?.teamID);
    const rows = await setup().store.db.selectFrom("team_webhooks").selectAll().where("team_id", "=", id).execute();
    return Object.fromEntries(
      rows.map(({ id, url, secret }) => [new URL(url).pathname, secret && openSealed(keyring, secret, id)]),
    );
  }
  const refs = (world: World) => world.condition("ResolvedRefs", "team-a", "PlatformTeam", "");

  it("without its Secret says so and holds up no other, and has it as soon as it comes or changes", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      secret("one", secretText(1)),
      secret("bad", "whsec_tooshort"),
      team("team-a", ["dev"], { webhooks: [hook("a", "one"), hook("b", "two"), hook("c", "bad")] }),
    );
    expect(await stored(world)).toEqual({ "/a": secretText(1), "/b": null, "/c": null });
    expect(refs(world)).toBe("False/WebhookSecretNotFound");
    const message = () =>
      world.get("PlatformTeam", "team-a", "")?.status?.conditions?.find(({ type }) => type === "ResolvedRefs")?.message;
    expect(message()).toContain("Secret dev/two with data key secret (webhook https://hooks.example.com/b)");
    expect(message()).not.toContain("tooshort");
    await world.declare(secret("two", secretText(2)), secret("bad", `${secretText(3)} ${secretText(4)}\n`));
    await until("the webhooks have their secrets", async () => refs(world) === "True/Resolved");
    expect(await stored(world)).toEqual({
      "/a": secretText(1),
      "/b": secretText(2),
      "/c": `${secretText(3)} ${secretText(4)}`,
    });
    await world.declare(secret("one", secretText(5)));
    await until("the other secret is stored", async () => (await stored(world))["/a"] === secretText(5));
  });

  it("b102: is not signed with a Secret of a namespace that another team holds", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      secret("theirs", secretText(1), "other"),
      team("team-b", ["other"]),
    );
    await world.declare(team("team-a", ["dev", "other"], { webhooks: [hook("a", "theirs", "other")] }));
    expect(await stored(world)).toEqual({ "/a": null });
    expect(refs(world)).toBe("False/WebhookSecretNotFound");
  });

  it("goes with its declaration, and with its team", async (context) => {
    const world = await startWorld(
      context,
      setup(),
      secret("one", secretText(1)),
      team("team-a", ["dev"], { webhooks: [hook("a", "one"), hook("b", "one")] }),
    );
    await world.declare(team("team-a", ["dev"], { webhooks: [hook("b", "one")] }));
    expect(Object.keys(await stored(world))).toEqual(["/b"]);
    const id = String(world.get("PlatformTeam", "team-a", "")?.status?.teamID);
    await world.remove({ kind: "PlatformTeam", name: "team-a", namespace: "" });
    const left = await setup().store.db.selectFrom("team_webhooks").select("id").where("team_id", "=", id).execute();
    expect(left).toEqual([]);
  });

  it("is notified of an end that is near, once for each, and of consumers that are late, once for each version", async (context) => {
    const at = (days: number) => ({ expiresAt: new Date(start + days * DAY).toISOString() });
    const start = Date.now();
    const world = await startWorld(
      context,
      setup(),
      secret("one", secretText(1)),
      team("team-a", ["dev"], {
        webhooks: [{ ...hook("a", "one"), events: ["key.expiring", "key.consumer_late", "key.rotated"] }],
      }),
      key("agent", at(30)),
      key("late", { rotation: { trigger: "1" } }),
    );
    const { store } = setup();
    const notified = async (name: string) => {
      const { id } = await store.db
        .selectFrom("keys")
        .select("id")
        .where("id", "=", keyIdOf(world, name))
        .executeTakeFirstOrThrow();
      const rows = await store.db
        .selectFrom("webhook_deliveries")
        .selectAll()
        .where("key_id", "=", id)
        .orderBy("at")
        .execute();
      return rows.map(({ event, data }) => ({ event, ...data }));
    };
    await world.advance(23.5 * DAY);
    await world.restart();
    await world.advance(DAY);
    const about = { event: "key.expiring", name: "agent", namespace: expect.any(String), version: 1 };
    expect(await notified("agent")).toMatchObject([{ ...about, expiresAt: at(30).expiresAt.replace(/\.\d+/, "") }]);
    await world.declare(key("agent", at(29)));
    expect((await notified("agent")).map(({ event }) => event)).toEqual(["key.expiring", "key.expiring"]);

    await world.declare(key("late", { rotation: { trigger: "2" } }));
    await world.advance(23.99 * HOUR);
    await recordUsage(store, [
      { keyId: keyIdOf(world, "late"), version: 1, at: world.clock.now(), address: "192.0.2.7", userAgent: "curl/8" },
    ]);
    await world.advance(HOUR);
    await world.advance(HOUR);
    await world.restart();
    expect(await notified("late")).toMatchObject([
      { event: "key.rotated", version: 2, succeeds: 1 },
      { event: "key.consumer_late", version: 2, lateVersion: 1, address: "192.0.2.7", userAgent: "curl/8" },
    ]);
  });
});
