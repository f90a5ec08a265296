import { expect, it } from "vitest";
import { until } from "../env/until.ts";
import type { WorldTests } from "./fixtures/setup.ts";
import { key, library, type Manifest, startWorld, team, type World } from "./fixtures/world.ts";

/** A namespace that no team claims, and that the cluster of these tests has beside the usual one. */
export const UNCLAIMED = "more";

const upstream = { name: "a", dialect: "openai", baseURL: "https://a.example", credentialRef: { name: "no-such" } };
const policy = { mcpAgentPolicy: { defaultLibraryRef: { namespace: "other", name: "no-such" } } };

/** What is misspelt in each, by its reason. */
export const misspelt = (): Record<string, Manifest> => ({
  NamespaceUnclaimed: key("unclaimed", {}, UNCLAIMED),
  LibraryNotFound: team("team-b", ["other"], policy),
  ReferenceNotFound: key("unbound", { preset: "GatewayDefault", gatewayRef: { name: "no-such" } }),
  CredentialNotFound: { kind: "ModelGateway", name: "main", spec: { upstreams: [upstream] } },
});

/** The warnings about an object that were logged, by their reason. */
export const warnings = (world: World, { kind, name }: Manifest) =>
  world.lines.flatMap((line) => {
    const said = line.match(/^(\w+) (?:\S+\/)?(\S+?): (\w+): /);
    return said?.[1] === kind && said[2]?.replace(world.tag, "") === name && said[3] !== "Issued" ? [said[3]] : [];
  });

/** Lets half a minute pass, and waits until there is an event of an object that was declared at its beginning. */
async function halfAMinute(world: World): Promise<void> {
  const late = key(`late-${world.lines.length}`, { preset: "GatewayDefault", gatewayRef: { name: "no-such" } });
  await world.declare(late);
  await world.advance(31_000);
  await until("the refusal is an event", () => warnings(world, late).length > 0);
}

/** A refusal that may be the order of a start alone. */
export const withLastingRefusals: WorldTests = (setup) => {
  it("is an event and a line of the log once it has held for 30 s, for each of its reasons, and never again", async (context) => {
    const world = await startWorld(context, setup());
    const all = misspelt();
    await world.declare(...Object.values(all));
    const recorded = () => Object.values(all).map((manifest) => warnings(world, manifest));
    expect(recorded()).toEqual([[], [], [], []]);
    const once = Object.keys(all).map((reason) => [reason]);
    await halfAMinute(world);
    expect(recorded()).toEqual(once);
    await halfAMinute(world);
    await world.restart();
    await halfAMinute(world);
    expect(recorded()).toEqual(once);
  });

  it("is no event where it has passed, its object is gone, or the process was restarted before", async (context) => {
    const world = await startWorld(context, setup());
    const refersTo = (name: string) => ({ preset: "MCPReadOnly", mcpDefaultLibraryRef: { name } });
    const [mended, deleted] = [key("mended", refersTo("late")), key("deleted", refersTo("late"))];
    await world.declare(mended, deleted);
    await world.remove(deleted);
    await world.declare(library("late"));
    await until("it is mended", () => world.condition("Ready", "mended") === "True/Ready");
    await halfAMinute(world);
    expect([warnings(world, mended), warnings(world, deleted)]).toEqual([[], []]);

    const restarted = key("restarted", refersTo("no-such"));
    await world.declare(restarted);
    await world.restart();
    await halfAMinute(world);
    expect(warnings(world, restarted)).toEqual([]);
  });

  it("that becomes another of the same kind has half a minute of its own, and an event at once when it comes later", async (context) => {
    const world = await startWorld(context, setup());
    const moved = key("moved", { preset: "GatewayDefault", gatewayRef: { name: "no-such" } }, UNCLAIMED);
    await world.declare(moved);
    expect(world.condition("Ready", "moved", "PlatformKey", UNCLAIMED)).toBe("False/NamespaceUnclaimed");
    await world.declare(team("team-b", [UNCLAIMED]));
    await until("its team is there", () =>
      world.condition("Ready", "moved", "PlatformKey", UNCLAIMED)?.includes("ReferenceNotFound"),
    );
    expect(warnings(world, moved)).toEqual([]);
    await halfAMinute(world);
    expect(warnings(world, moved)).toEqual(["ReferenceNotFound"]);

    await world.declare(team("team-b", ["other"]));
    await until("it is an event at once", () => warnings(world, moved).length > 1);
    expect(warnings(world, moved)).toEqual(["ReferenceNotFound", "NamespaceUnclaimed"]);
  });
};
