/** The faults of DATA as those see them who declare keys: with a controller, a store and a replica. */
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { until } from "../../../env/until.ts";
import { describeWorlds } from "../../fixtures/setup.ts";
import { key, NAMESPACE, startWorld } from "../../fixtures/world.ts";

describeWorlds("a key whose files are blocked by other files", (setup) => {
  it("b68: says SecretConflict for a link in its Secret's place, touches nothing behind it, and recovers", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const victim = await mkdtemp(join(tmpdir(), "keyplane-victim-"));
    context.onTestFinished(() => rm(victim, { recursive: true }));
    await writeFile(join(victim, "thesis.txt"), "years of work");
    const place = join(world.data, "secrets", NAMESPACE, "agent");
    await rm(place, { recursive: true });
    await symlink(victim, place);
    await until("the conflict", () => world.condition("Ready", "agent") === "False/SecretConflict");
    expect(await readdir(victim)).toEqual(["thesis.txt"]);
    await rm(place);
    await until("it is ready", () => world.condition("Ready", "agent") === "True/Ready");
    expect(await readdir(victim)).toEqual(["thesis.txt"]);
  });

  it("is revoked as declared while its status file cannot be written", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await mkdir(join(world.data, "status", NAMESPACE, "PlatformKey", "agent.json.tmp"));
    await world.write(key("agent", { state: "Revoked" }));
    await until("it is refused", () => world.decide(plaintext) !== "allowed");
  });

  it("is rotated as declared after a file that was in its Secret's place is gone", async (context) => {
    const world = await startWorld(context, setup(), key("agent"));
    const place = join(world.data, "secrets", NAMESPACE, "agent");
    await rm(place, { recursive: true });
    await writeFile(place, "oops");
    await until("the conflict", () => world.condition("Ready", "agent") === "False/SecretConflict");
    await rm(place);
    await until("it is ready", () => world.condition("Ready", "agent") === "True/Ready");
    const before = await world.keyIn("agent");
    await world.write(key("agent", { rotation: { trigger: "t" } }));
    await until("another value", async () => ![undefined, before].includes(await world.keyIn("agent")));
    await until(
      "nothing left to be finished",
      async () => (await readdir(join(world.data, "secrets/.committed"))).length === 0,
    );
  });
});
