/** What can happen to a key, and how it ends, undisturbed or with a fault in it. */
import { expect, type TestContext } from "vitest";
import { makeByHand, takingOver } from "../controller/fixtures/made-by-hand.ts";
import { key, type Manifest, startWorld, type World, type WorldSetup } from "../controller/fixtures/world.ts";
import { until } from "../env/until.ts";
import { endState } from "./end-state.ts";
import { createInjector, type InjectedFault } from "./injector.ts";

/** Something that happens to a key, and how it is known to have ended. */
export type Scenario = {
  readonly given: readonly Manifest[];
  readonly act: (world: World) => Promise<void>;
  readonly ended: (world: World) => boolean | Promise<boolean>;
};

const overlap = { mode: "Fixed", duration: "1h" };
export const isReady = (world: World, reason = "True/Ready") => {
  const agent = world.get("PlatformKey", "agent");
  return agent?.status?.observedGeneration === agent?.generation && world.condition("Ready", "agent") === reason;
};

export const SCENARIOS = {
  "a first mint": { given: [], act: (world) => world.write(key("agent")), ended: isReady },
  "a rotation": {
    given: [key("agent", { rotation: { overlap } })],
    act: (world) => world.write(key("agent", { rotation: { overlap, trigger: "next" } })),
    ended: (world) => isReady(world) && world.get("PlatformKey", "agent")?.generation === 2,
  },
  "a lost Secret": {
    given: [key("agent")],
    act: (world) => world.loseSecret("agent"),
    ended: async (world) => (await world.keyIn("agent")) !== undefined && isReady(world),
  },
  "a take-over": {
    given: [],
    act: async (world) => world.write(takingOver("agent", await makeByHand(world))),
    ended: isReady,
  },
  "a declared revocation": {
    given: [key("agent")],
    act: (world) => world.write(key("agent", { state: "Revoked" })),
    ended: (world) => isReady(world, "True/Revoked"),
  },
  "a deletion": {
    given: [key("agent")],
    act: (world) => world.undeclare(key("agent")),
    ended: (world) => world.get("PlatformKey", "agent") === undefined,
  },
  "a deletion with Retain": {
    given: [key("agent", { deletionPolicy: "Retain" })],
    act: (world) => world.undeclare(key("agent")),
    ended: (world) => world.get("PlatformKey", "agent") === undefined,
  },
} as const satisfies Record<string, Scenario>;

export type ScenarioName = keyof typeof SCENARIOS;

/** Plays a scenario to its end, with a fault in it or undisturbed. */
export async function play(context: TestContext, setup: WorldSetup, name: ScenarioName, fault?: InjectedFault) {
  const { given, act, ended }: Scenario = SCENARIOS[name];
  // The status of a key that is at rest may be written late.
  const injector = createInjector(undefined, "other");
  const world = await startWorld(context, { ...setup, wrap: injector.wrap }, key("other"), ...given);
  const before = await world.keyIn("agent");
  injector.arm(fault);
  const acting = act(world);
  if (fault !== undefined) {
    await until(`${fault.effect} in ${name}`, injector.hasStruck);
    await acting;
    if (fault.how.startsWith("killed")) {
      await world.stop(true);
      world.wrapWith(undefined);
      await world.start();
    }
  }
  await acting;
  await until(`the end of ${name}`, () => ended(world));
  await world.rest();
  const seen = before === undefined ? [] : [before];
  return { world, injector, before, end: await endState(world, ["agent", "other"], seen) };
}

const undisturbed = new Map<string, ReturnType<typeof play>>();
/** How a scenario ends when nothing goes wrong: played once for each store. */
export function usual(context: TestContext, setup: WorldSetup, name: ScenarioName): ReturnType<typeof play> {
  const key = `${setup.store.engine} ${name}`;
  const known = undisturbed.get(key) ?? play(context, setup, name);
  undisturbed.set(key, known);
  return known;
}

/** Plays a scenario with a fault, and checks that it makes no difference in the end. */
export async function endsAsUsual(context: TestContext, setup: WorldSetup, name: ScenarioName, fault: InjectedFault) {
  const played = await play(context, setup, name, fault);
  const { end } = await usual(context, setup, name);
  expect(played.end, `${name}, ${fault.how} ${fault.effect}`).toEqual(end);
  return played;
}
