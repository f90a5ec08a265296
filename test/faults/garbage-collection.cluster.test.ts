/** Declarations that went without a deletion that the controller saw: what they stood for ends, unless far too many did. */
import { expect, it } from "vitest";
import { findAfterRestore } from "../../cli/doctor/after-restore.ts";
import { describeWorldsOnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { type KubernetesSide, makeKubernetesSide } from "../controller/fixtures/kubernetes-side.ts";
import type { ManifestName, Shift } from "../controller/fixtures/side.ts";
import { key, library, type Manifest, NAMESPACE, startWorld, team, type World } from "../controller/fixtures/world.ts";
import { until } from "../env/until.ts";

const provider: Manifest = { kind: "Secret", name: "provider", stringData: { "api-key": "sk-provider" } };

function gateway(publicID: string): Manifest {
  const upstream = { name: "openai", dialect: "openai", baseURL: "https://api.example.com" };
  const upstreams = [{ ...upstream, credentialRef: { name: "provider", key: "api-key" } }];
  return { kind: "ModelGateway", name: "models", spec: { publicID, upstreams } };
}

describeWorldsOnKubernetes("a declaration that went unseen", (setup, kubernetes) => {
  function onItsSide() {
    let made: KubernetesSide | undefined;
    return {
      setup: {
        ...setup(),
        async side(shift: Shift) {
          made = await makeKubernetesSide(kubernetes(), shift);
          return made;
        },
      },
      side: () => made ?? expect.fail("the world has not started"),
    };
  }

  /** As a user does who strips finalizers by hand while no controller runs. */
  async function strip(world: World, side: KubernetesSide, ...names: ManifestName[]): Promise<void> {
    await world.stop();
    for (const name of names) {
      await side.patch(name, { metadata: { finalizers: null } });
      await side.remove(name);
    }
    await world.start();
    await world.rest();
  }

  it("c13: a stripped finalizer costs a minute: then the key is revoked", async (context) => {
    const { setup: own, side } = onItsSide();
    const world = await startWorld(context, own, key("other"), key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await strip(world, side(), key("agent"));
    expect(world.decide(plaintext)).toBe("allowed");
    await until("refused", () => world.decide(plaintext) === "unauthorized");
    expect((await world.storedKeys()).map(({ name, revocation }) => [name, revocation?.reason])).toEqual(
      expect.arrayContaining([
        ["other", undefined],
        ["agent", "Orphaned"],
      ]),
    );
  });

  it("c13: a namespace that was forced out of existence takes its keys with it", async (context) => {
    const { setup: own, side } = onItsSide();
    const world = await startWorld(context, own, key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await world.stop();
    const name = `${NAMESPACE}${world.tag}`;
    const path = `/api/v1/namespaces/${name}`;
    await kubernetes().request("DELETE", path);
    // Now it is stuck, since no controller takes our finalizer away, and an administrator loses patience.
    await until("the key is being removed", async () => (await side().read(key("agent")))?.metadata.deletionTimestamp);
    const body = JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name }, spec: { finalizers: [] } });
    await until("the namespace is gone", async () => {
      await kubernetes().request("PUT", `${path}/finalize`, { body });
      return (await kubernetes().request("GET", path)).status === 404;
    });
    const before = world.lines.length;
    await world.start();
    await until("refused", () => world.decide(plaintext) === "unauthorized");
    const said = () => world.lines.slice(before).filter((line) => line.includes(`PlatformKey ${name}/agent`));
    await until("its event has nowhere to go", () => said().length > 0);
    expect(said(), "and nothing else went wrong").toEqual([expect.stringContaining("no event for PlatformKey")]);
    await until("its Secret is gone", async () => (await world.readSecret("agent")) === undefined);
  });

  it("c13: many that went at once are not believed: garbage collection pauses, and says so", async (context) => {
    const { setup: own, side } = onItsSide();
    const names = Array.from({ length: 12 }, (_, i) => `key-${i}`);
    const world = await startWorld(context, own, ...names.map((name) => key(name)));
    const plaintexts = await Promise.all(names.map((name) => world.plaintextOf(name)));
    await strip(world, side(), ...names.slice(1).map((name) => key(name)));
    await world.collectGarbage();
    expect(plaintexts.map((plaintext) => world.decide(plaintext))).toEqual(names.map(() => "allowed"));
    expect(world.lines.find((line) => line.startsWith("garbage collection is paused"))).toContain("PlatformKey");
    const findings = (await findAfterRestore(world.cluster(), world.store.db)).filter(
      ({ severity }) => severity === "error",
    );
    expect(findings[0]?.message).toBe("11 of 12 PlatformKey have no declaration: garbage collection is paused");
    expect(findings.slice(1)).toContainEqual(
      expect.objectContaining({
        name: "orphans",
        message: expect.stringMatching(/^PlatformKey \S+\/key-7 has no declaration any more$/),
        action: expect.stringContaining("keyplane revoke key_"),
      }),
    );
    expect(findings).toHaveLength(12);
  });

  it("c13: a library, a gateway and a team go as keys do, and come back as they were when they are declared again", async (context) => {
    const { setup: own, side } = onItsSide();
    const publicID = `g-${Math.random().toString(36).slice(2, 10)}`;
    const restricted = {
      preset: "MCPReadWrite",
      libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook" }] },
    };
    const all = [provider, library("handbook", { deletionPolicy: "Delete" }), gateway(publicID)];
    const world = await startWorld(
      context,
      own,
      ...all,
      key("agent", restricted),
      key("caller", { preset: "GatewayDefault" }),
    );
    const [agent, caller] = [await world.plaintextOf("agent"), await world.plaintextOf("caller")];
    const libraryIds = () => world.record(agent)?.libraryIds;
    const calls = () => world.decide(caller, "gateway.chat_completions", publicID);
    const before = libraryIds();
    expect([before?.length, calls()]).toEqual([1, "allowed"]);

    await strip(world, side(), library("handbook"), gateway(publicID));
    await world.collectGarbage();
    await until("neither grants anything", () => libraryIds()?.length === 0 && calls() === "unauthorized");
    await world.declare(...all);
    await until("both are there again, the library with its atoms", () => {
      return libraryIds()?.join() === before?.join() && calls() === "allowed";
    });

    await strip(world, side(), team("team-a", []));
    await world.collectGarbage();
    await until("its keys are suspended", () => world.decide(agent) === "unauthorized");
    await world.declare(team("team-a", [NAMESPACE]));
    await until("they work again", () => world.decide(agent) === "allowed");
    expect(await world.plaintextOf("agent")).toBe(agent);
  });
});
