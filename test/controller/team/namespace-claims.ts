import { expect, it, type TestContext } from "vitest";
import { until } from "../../env/until.ts";
import { withCalls } from "../fixtures/cluster-calls.ts";
import type { WorldTests } from "../fixtures/setup.ts";
import { key, type Manifest, startWorld, team, type World, type WorldSetup } from "../fixtures/world.ts";

const WEBHOOK = {
  url: "https://hooks.example.com/",
  events: ["key.revoked"],
  secretRef: { namespace: "shared", name: "signing", key: "secret" },
};
/** The team that is declared first, though it comes last by its name. Before it is stored, one Secret is read. */
export const older = (...namespaces: string[]): Manifest =>
  team("zebra", ["shared", ...namespaces], { webhooks: [WEBHOOK] });
export const younger = (...namespaces: string[]) => team("ant", namespaces);

/** What becomes of the older team's attempts from now on. */
type Gate = { pass: () => Promise<void> };

export const open = async () => {};
export const failing = async () => {
  throw new Error("the Secret cannot be read now");
};

export function gated(setup: () => WorldSetup): { setup: WorldSetup; gate: Gate } {
  const gate: Gate = { pass: open };
  const wrap = withCalls((cluster) => ({
    async readSecret(namespace, name) {
      if (name === "signing") await gate.pass();
      return cluster.readSecret(namespace, name);
    },
  }));
  return { setup: { ...setup(), wrap }, gate };
}

/** Holds the older team's attempts up until the function that it resolves with is called. */
export function holdUp(context: TestContext, gate: Gate): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  gate.pass = () => promise;
  const letPass = () => {
    gate.pass = open;
    resolve();
  };
  context.onTestFinished(letPass);
  return letPass;
}

const acceptedOf = (world: World, name: string) =>
  world.get("PlatformTeam", name)?.status?.conditions?.find(({ type }) => type === "Accepted");
const namespacesOf = (world: World, name: string) => world.get("PlatformTeam", name)?.status?.namespaces;
export const untilHeld = (world: World, name: string) =>
  until(`${name} holds its namespaces`, () => acceptedOf(world, name)?.status === "True");
export const untilRefused = (world: World, text: string) =>
  until(`the younger team is refused: ${text}`, () => acceptedOf(world, "ant")?.message.includes(text));

/** Writes the older team and then the younger one, in a later second: an API server knows an age by the second. */
export async function writeBoth(world: World): Promise<void> {
  await world.write(older("other"));
  const { createdAt } = await until("the older team is there", () => world.get("PlatformTeam", "zebra"));
  await until("a later second", () => Date.now() >= createdAt + 1_000);
  await world.write(younger("other", "own"));
}

/** A namespace that no team holds and two teams claim. */
export const withTwoClaims: WorldTests = (setup) => {
  it("is the older team's, also where the younger one is reconciled first", async (context) => {
    const { setup: gatedSetup, gate } = gated(setup);
    const world = await startWorld(context, gatedSetup, key("agent", {}, "other"));
    const letPass = holdUp(context, gate);
    await writeBoth(world);
    await untilRefused(world, `other${world.tag} goes to PlatformTeam zebra${world.tag}`);
    expect(namespacesOf(world, "ant")).toEqual([`own${world.tag}`]);
    letPass();
    await untilHeld(world, "zebra");
    await untilRefused(world, `other${world.tag} is held by PlatformTeam zebra${world.tag}`);
    await until(
      "the key of the namespace",
      () => world.condition("Ready", "agent", "PlatformKey", "other") === "True/Ready",
    );
    expect((await world.status("agent", "other")).team).toBe(`zebra${world.tag}`);
  });

  it("is the older team's once the team that held it gives it up", async (context) => {
    const { setup: gatedSetup, gate } = gated(setup);
    const world = await startWorld(context, gatedSetup, team("holder", ["theirs", "other"]));
    await writeBoth(world);
    await untilRefused(world, "is held by");
    await world.rest();
    const letPass = holdUp(context, gate);
    await world.write(team("holder", ["theirs"]));
    await untilRefused(world, `goes to PlatformTeam zebra${world.tag}`);
    letPass();
    await untilHeld(world, "zebra");
    await untilRefused(world, `is held by PlatformTeam zebra${world.tag}`);
  });
};
