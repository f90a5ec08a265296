import { expect, it } from "vitest";
import { openSealed } from "../../store/keyring.ts";
import { until } from "../env/until.ts";
import { keyring } from "../server/key-index/replica-fixtures.ts";
import { describeWorlds } from "./fixtures/setup.ts";
import { type Manifest, startWorld, team, type World } from "./fixtures/world.ts";

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
});
