import { expect, it } from "vitest";
import { ClusterError } from "../../controller/cluster/port.ts";
import { change } from "../../store/database/change.ts";
import { requestRotation } from "../../store/keys/lifecycle/rotation-request.ts";
import { until } from "../env/until.ts";
import { withCalls } from "./fixtures/cluster-calls.ts";
import { describeWorlds } from "./fixtures/setup.ts";
import { HOUR, key, library, startWorld, team, type World } from "./fixtures/world.ts";

const DAY = 24 * HOUR;

/** The events of an object, by their reason. */
const reasons = (world: World, name: string) =>
  world.lines.flatMap((line) => line.match(`^[A-Za-z]+ (?:[a-z]+/)?${name}: ([A-Za-z]+): `)?.[1] ?? []);
const count = (world: World, name: string, reason: string) =>
  reasons(world, name).filter((one) => one === reason).length;

/** What a resync and a restart come to. */
async function lookAgain(world: World): Promise<void> {
  await world.advance(1_000);
  await world.restart();
}

/** What the events of an object say, without the prefixes of keys. */
const messages = (world: World, name: string, reason: string) =>
  world.lines.flatMap(
    (line) =>
      line.match(`^[A-Za-z]+ (?:[a-z]+/)?${name}: ${reason}: (.*)`)?.[1]?.replace(/ \(inf_\w+\.\.\.\)/, "") ?? [],
  );

describeWorlds("an event says", (setup) => {
  it("nothing of an attempt that fails and is tried again", async (context) => {
    let failures = 0;
    const wrap = withCalls(({ createSecret }) => ({
      async createSecret(draft) {
        if (++failures <= 2) throw new ClusterError("Unclear", "the API server answered 500");
        return createSecret(draft);
      },
    }));
    const world = await startWorld(context, { ...setup(), wrap }, key("agent"));
    await until("it is ready", () => world.condition("Ready", "agent") === "True/Ready");
    expect([failures, count(world, "agent", "Minting"), count(world, "agent", "Issued")]).toEqual([3, 0, 1]);
  });

  it("why a version was issued", async (context) => {
    const spec = (trigger: string) => ({ rotation: { trigger, interval: "10h", overlap: { duration: "1h" } } });
    const world = await startWorld(context, setup(), key("agent", spec("a")));
    await world.declare(key("agent", spec("b")));
    await world.loseSecret("agent");
    await until("it is healed", async () => (await world.keyIn("agent")) !== undefined);
    await world.rest();
    await world.advance(2 * HOUR);
    await world.editSecret("agent", "edited");
    await until("it is healed", async () => (await world.keyIn("agent"))?.startsWith("inf_"));
    await world.rest();
    await world.advance(11 * HOUR);
    const { id } = await world.stored("agent");
    await change(setup().store, null, (tx) => requestRotation(tx, id, false));
    await world.advance(1_000);
    await until("all are reported", () => count(world, "agent", "Issued") === 6);
    expect(messages(world, "agent", "Issued")).toEqual([
      "Version 1 is delivered and active.",
      "Version 2 is delivered and active, since spec.rotation.trigger changed.",
      "Version 3 is delivered and active, since its Secret was deleted.",
      "Version 4 is delivered and active, since its Secret was edited.",
      "Version 5 is delivered and active, since spec.rotation.interval has passed.",
      "Version 6 is delivered and active, since a rotation was requested by hand.",
    ]);
    const plaintext = await world.plaintextOf("agent");
    const lines = world.lines.join("\n");
    expect(lines, "a version is named by its prefix alone").toContain(plaintext.slice(0, 12));
    expect(lines).not.toContain(plaintext.slice(0, 13));
  });

  it("what changed of a key with the same secret, and nothing of what no request meets", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    await world.declare(key("agent", { state: "Suspended" }));
    await world.declare(key("agent", { preset: "MCPReadWrite", expiresAfter: "720h" }));
    await world.declare(key("agent", { preset: "MCPReadWrite", expiresAfter: "720h", secret: { onLost: "Report" } }));
    expect(messages(world, "agent", "Updated")).toEqual([
      "The key is suspended, and refused.",
      "The key is no longer suspended. Changed, with the same secret: scopes, expiresAfter.",
    ]);
  });

  it("of nothing that is only the order of a first start, and of the same when it comes later", async (context) => {
    const world = await startWorld(context, setup());
    const policy = { mcpAgentPolicy: { defaultLibraryRef: { namespace: "other", name: "late" } } };
    await world.declare(key("agent", {}, "more"), team("team-b", ["other"], policy));
    expect(world.condition("Ready", "agent", "PlatformKey", "more")).toBe("False/NamespaceUnclaimed");
    expect(world.condition("Ready", "team-b", "PlatformTeam")).toBe("False/LibraryNotFound");
    await world.declare(library("late", {}, "other"), team("team-b", ["other", "more"], policy));
    await until("the key is ready", () => world.condition("Ready", "agent", "PlatformKey", "more") === "True/Ready");
    await until("the team is", () => world.condition("Ready", "team-b", "PlatformTeam") === "True/Ready");
    expect([reasons(world, "agent"), reasons(world, "team-b")]).toEqual([["Issued"], []]);
    await world.declare(team("team-b", ["other"], policy));
    await until("it is reported", () => reasons(world, "agent").includes("NamespaceUnclaimed"));
  });

  it("of each version that is issued and that ends, and of the revocation, once each", async (context) => {
    const spec = (trigger: string, duration: string) => ({
      rotation: { trigger, overlap: { mode: "Fixed", duration } },
    });
    const world = await startWorld(context, setup(), key("agent", spec("a", "1h")));
    await world.declare(key("agent", spec("b", "1h")));
    await lookAgain(world);
    expect([count(world, "agent", "Issued"), count(world, "agent", "Retired")]).toEqual([2, 0]);
    await world.advance(HOUR);
    await lookAgain(world);
    expect([count(world, "agent", "Issued"), count(world, "agent", "Retired")]).toEqual([2, 1]);
    await world.declare(key("agent", spec("c", "0s")));
    await lookAgain(world);
    expect([count(world, "agent", "Issued"), count(world, "agent", "Retired")]).toEqual([3, 2]);
    await world.declare(key("agent", { state: "Revoked" }));
    await lookAgain(world);
    expect(count(world, "agent", "Revoked")).toBe(1);
  });

  it("of each refusal once, of a team, a gateway and a key, and again when it is another", async (context) => {
    const upstreams = [
      { name: "a", dialect: "openai", baseURL: "https://a.example", credentialRef: { name: "provider", key: "k" } },
    ];
    const gateway = (name: string, publicID: string) => ({
      kind: "ModelGateway" as const,
      name,
      spec: { publicID, upstreams },
    });
    const world = await startWorld(
      context,
      setup(),
      { kind: "Secret", name: "provider", stringData: { k: "sk-1" } },
      { kind: "Secret", name: "agent", stringData: { "api-key": "another's" } },
    );
    const publicID = `events-${world.clusterUid()}`;
    await world.declare(gateway("main", publicID));
    await world.declare(gateway("rival", publicID), team("team-b", ["dev"]), key("agent"));
    await lookAgain(world);
    expect(reasons(world, "rival")).toEqual(["PublicIDTaken"]);
    expect(reasons(world, "team-b")).toEqual(["NamespaceTaken"]);
    expect(reasons(world, "agent")).toEqual(["SecretConflict"]);
    expect(reasons(world, "main")).toEqual([]);

    await world.declare(team("team-c", ["more"]));
    await world.declare(team("team-b", ["dev", "more"]));
    await lookAgain(world);
    expect(reasons(world, "team-b"), "another namespace is taken").toEqual(["NamespaceTaken", "NamespaceTaken"]);
  });

  it("of an end a week before it comes, once, and again when it is another end", async (context) => {
    const at = (ms: number) => ({ expiresAt: new Date(ms).toISOString() });
    const start = Date.now();
    const world = await startWorld(
      context,
      setup(),
      key("agent", at(start + 30 * DAY)),
      key("lived", { expiresAfter: "720h" }),
      key("rotated", { expiresAfter: "720h", rotation: { interval: "600h" } }),
      key("short", { expiresAfter: "168h" }),
      key("brief", at(start + 6 * DAY)),
    );
    await world.advance(22 * DAY);
    expect([count(world, "agent", "Expiring"), count(world, "lived", "Expiring")]).toEqual([0, 0]);
    await world.advance(1.1 * DAY);
    await lookAgain(world);
    await world.advance(DAY);
    expect([count(world, "agent", "Expiring"), count(world, "lived", "Expiring")]).toEqual([1, 1]);
    await world.declare(key("agent", at(start + 29 * DAY)));
    await lookAgain(world);
    expect(count(world, "agent", "Expiring")).toBe(2);
    await world.declare(key("agent", at(start + 60 * DAY)));
    await lookAgain(world);
    expect(count(world, "agent", "Expiring")).toBe(2);
    for (const name of ["rotated", "short", "brief"]) expect(count(world, name, "Expiring"), name).toBe(0);
    await world.advance(30 * DAY);
    expect(count(world, "agent", "Expiring")).toBe(3);
  });

  it("b465: of a near end once, also where the status that says so cannot be written at first", async (context) => {
    let conflicts = 0;
    const wrap = withCalls(({ writeStatus }) => ({
      async writeStatus(object, status) {
        if (status.expiryWarned === undefined || conflicts === 1) return writeStatus(object, status);
        conflicts++;
        throw new ClusterError("Conflict", "the object has changed");
      },
    }));
    const expiresAt = new Date(Date.now() + 30 * DAY).toISOString();
    const world = await startWorld(context, { ...setup(), wrap }, key("agent", { expiresAt }));
    await world.advance(24 * DAY);
    await until("the status says so", () => world.get("PlatformKey", "agent")?.status?.expiryWarned !== undefined);
    expect([conflicts, count(world, "agent", "Expiring")]).toEqual([1, 1]);
  });
});
