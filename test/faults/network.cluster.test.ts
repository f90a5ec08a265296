/** What the network does to a controller at the worst moment, with real connections to a real API server and database. */
import { describe, expect, it, type TestContext } from "vitest";
import { describeWorldsOnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { key, startWorld } from "../controller/fixtures/world.ts";
import type { ApiCall, Fate } from "../env/kubernetes/api-proxy.ts";
import { NIGHTLY } from "../env/nightly.ts";
import { until } from "../env/until.ts";
import { type BehindProxies, behindProxies } from "./behind-proxies.ts";
import { endState } from "./end-state.ts";
import { SCENARIOS, type Scenario, type ScenarioName, usual } from "./scenarios.ts";

/** The `commit` of the transaction that has sent such a statement. */
const commitAfter = (statement: string) => () => {
  let isThere = false;
  return (bytes: Buffer) => {
    if (bytes.includes("begin")) isThere = false;
    isThere ||= bytes.includes(statement);
    return isThere && bytes.includes("commit");
  };
};

/**
 * Each with when it is reset by day, and at night at both times: every-point.faults.test.ts loses the answers to them all by
 * day, on files.
 */
const COMMITS: readonly (readonly [ScenarioName, string, string, readonly ("sent" | "answered")[]])[] = [
  ["a first mint", "the reservation", 'insert into "key_versions"', []],
  ["a first mint", "the activation", '"activated_at" =', ["sent", "answered"]],
  ["a rotation", "the policy", "update key_versions set expires_at", []],
  ["a declared revocation", "the revocation", "revocation_reason = given", []],
  ["a deletion", "the revocation", "revocation_reason = given", ["answered"]],
  ["a deletion with Retain", "the release", '"owner_uid" =', []],
];

const isWrite = (method: string, ending: string) => (call: ApiCall) =>
  call.method === method && call.path.endsWith(ending);

const FATES = {
  "is lost on its way": { do: "cut" },
  "is answered into nothing": { do: "lose answer" },
  "arrives after it was given up": { do: "arrive late", after: 400 },
} as const satisfies Record<string, Fate>;
const ALL_FATES = Object.keys(FATES) as FateName[];
type FateName = keyof typeof FATES;

/**
 * Each with what becomes of it by day; at night everything does. Beside these every-point.cluster.test.ts has controllers
 * die after writes, which learn as little of the answer, and cluster.cluster.test.ts a status that was outrun.
 */
const WRITES: readonly (readonly [ScenarioName, string, (call: ApiCall) => boolean, readonly FateName[]])[] = [
  ["a first mint", "the finalizer", isWrite("PATCH", "/platformkeys/agent"), ["is answered into nothing"]],
  ["a first mint", "the Secret's creation", isWrite("POST", "/secrets"), ALL_FATES],
  ["a first mint", "the status", isWrite("PATCH", "/platformkeys/agent/status"), []],
  ["a rotation", "the Secret's replacement", isWrite("PUT", "/secrets/agent"), ["arrives after it was given up"]],
  ["a deletion", "the Secret's removal", isWrite("DELETE", "/secrets/agent"), []],
  ["a deletion", "the finalizer's removal", isWrite("PATCH", "/platformkeys/agent"), ["is answered into nothing"]],
];

describeWorldsOnKubernetes("a network that fails", (setup, kubernetes) => {
  /** Plays a scenario in which something is struck, and checks that it makes no difference in the end. */
  async function endsAsUsual(
    context: TestContext,
    name: ScenarioName,
    strike: (proxies: BehindProxies) => Promise<unknown>,
  ) {
    const { given, act, ended }: Scenario = SCENARIOS[name];
    const proxies = await behindProxies(context, kubernetes(), setup());
    const world = await startWorld(context, proxies.setup, key("other"), ...given);
    const before = await world.keyIn("agent");
    let hasStruck = false;
    void strike(proxies).then(() => {
      hasStruck = true;
    });
    await act(world);
    await until("the strike", () => hasStruck);
    await until(`the end of ${name}`, () => ended(world));
    await world.rest();
    const seen = before === undefined ? [] : [before];
    expect(await endState(world, ["agent", "other"], seen)).toEqual((await usual(context, setup(), name)).end);
    return world;
  }

  describe("between the controller and the database", () => {
    for (const [name, what, statement, byDay] of COMMITS) {
      for (const when of NIGHTLY ? (["sent", "answered"] as const) : byDay) {
        it(`c3: in ${name}, a reset as the commit of ${what} is ${when} makes no difference in the end`, async (context) => {
          const world = await endsAsUsual(context, name, ({ database }) =>
            database.resetAt(when, commitAfter(statement)),
          );
          const numbers = (await world.storedKeys()).map(({ lastNumber }) => lastNumber).sort();
          expect(numbers, "no version too many").toEqual(name === "a rotation" ? [1, 2] : [1, 1]);
        });
      }
    }

    it("c12: a deletion waits while the database is out of reach, says why, and goes on by itself", async (context) => {
      const { database, setup: behind } = await behindProxies(context, kubernetes(), setup());
      const world = await startWorld(context, behind, key("other"), key("agent"));
      const plaintext = await world.plaintextOf("agent");
      database.cut();
      await world.undeclare(key("agent"));
      const said = await until("a condition that says why", () =>
        world.get("PlatformKey", "agent")?.status?.conditions?.find(({ type }) => type === "Reconciling"),
      );
      expect(said.message).toMatch(/ECONNRESET|terminated/);
      expect(world.get("PlatformKey", "agent")?.finalizers).toEqual(["keyplane.dev/finalizer"]);
      expect(world.decide(plaintext)).toBe("allowed");
      database.thaw();
      await until("the object is gone", () => world.get("PlatformKey", "agent") === undefined);
      await until("refused", () => world.decide(plaintext) === "unauthorized");
      expect(await world.readSecret("agent")).toBeUndefined();
    });
  });

  describe("between the controller and the API server", () => {
    for (const [name, what, matches, byDay] of WRITES) {
      for (const fails of NIGHTLY ? ALL_FATES : byDay) {
        it(`c6: in ${name}, ${what} that ${fails} makes no difference in the end`, async (context) => {
          await endsAsUsual(context, name, ({ api }) => api.once(matches, FATES[fails]));
        });
      }
    }

    it("c14: a deletion that no watch reported, before the same name was made again, is found by the list", async (context) => {
      const { api, side, setup: behind } = await behindProxies(context, kubernetes(), setup());
      const world = await startWorld(context, behind, key("other"), key("agent"));
      const first = await world.plaintextOf("agent");
      const old = world.get("PlatformKey", "agent")?.uid;
      const isKeyWatch = (call: ApiCall) => call.isWatch && call.path.endsWith("/platformkeys");
      const hear = api.rule((call) => (isKeyWatch(call) ? { do: "hang" } : undefined));
      api.cutAll();
      await side().patch(key("agent"), { metadata: { finalizers: null } });
      await side().remove(key("agent"));
      await until(
        "the garbage collector takes its Secret",
        async () => (await world.readSecret("agent")) === undefined,
      );
      await world.write(key("agent"));
      const expired = { kind: "Status", status: "Failure", code: 410, reason: "Expired", message: "too old" };
      hear();
      void api.once(isKeyWatch, { do: "answer", status: 410, body: expired });
      api.cutAll();
      await until("the new one is ready", () => {
        const now = world.get("PlatformKey", "agent");
        return now?.uid !== old && world.condition("Ready", "agent") === "True/Ready";
      });
      const second = await world.plaintextOf("agent");
      expect(second).not.toBe(first);
      await world.collectGarbage();
      await until("refused", () => world.decide(first) === "unauthorized");
      expect(world.decide(second)).toBe("allowed");
      expect(world.decide(await world.plaintextOf("other"))).toBe("allowed");
    });

    it("c16: an API server that shows the past changes nothing of what came later", async (context) => {
      const { api, side, setup: behind } = await behindProxies(context, kubernetes(), setup());
      const world = await startWorld(context, behind, key("other"), key("agent", { rotation: { trigger: "a" } }));
      const collection = side()
        .pathOf(key("agent"))
        .replace(/\/agent$/, "");
      const past = (await kubernetes().request("GET", collection)).body as { items: { metadata: { name: string } }[] };
      await world.declare(key("agent", { rotation: { trigger: "b" }, preset: "MCPReadWrite" }));
      const present = await side().read(key("agent"));
      const plaintext = await world.plaintextOf("agent");
      const before = await endState(world, ["agent", "other"], [plaintext]);
      await world.stop();

      let shown = 0;
      const wake = api.rule(({ method, path, isWatch }) => {
        if (method !== "GET" || !path.startsWith(collection)) return undefined;
        if (isWatch) return { do: "hang" };
        shown++;
        const name = path.slice(collection.length + 1);
        const body = name === "" ? past : past.items.find(({ metadata }) => metadata.name === name);
        return { do: "answer", status: 200, body };
      });
      await world.start();
      expect(world.get("PlatformKey", "agent")?.generation).toBe(1);
      for (let round = 0; round < 5; round++) {
        world.poke("agent");
        await until("another look", () => world.isIdle());
      }
      expect(shown).toBeGreaterThan(0);
      expect(await side().read(key("agent"))).toEqual(present);
      expect(await world.plaintextOf("agent")).toBe(plaintext);
      wake();
      api.cutAll();
      await until("the present is seen", () => world.get("PlatformKey", "agent")?.generation === 2);
      await world.rest();
      expect(await endState(world, ["agent", "other"], [plaintext])).toEqual(before);
    });

    it("c16: a Secret that the API server has forgotten for a while is not written over", async (context) => {
      const { api, side, setup: behind } = await behindProxies(context, kubernetes(), setup());
      const world = await startWorld(context, behind, key("agent"));
      const secret = { kind: "Secret", name: "agent" } as const;
      const plaintext = await world.plaintextOf("agent");
      const missing = { kind: "Status", status: "Failure", code: 404, reason: "NotFound", message: "not found" };
      let asked = 0;
      const wake = api.rule(({ method, path }) => {
        if (method !== "GET" || !path.endsWith("/secrets/agent")) return undefined;
        asked++;
        return { do: "answer", status: 404, body: missing };
      });
      await side().patch(secret, { metadata: { annotations: { note: "for it to be heard of" } } });
      const present = await side().read(secret);
      await until("it is looked for several times", () => {
        world.poke("agent");
        return asked > 3;
      });
      expect(await side().read(secret)).toEqual(present);
      wake();
      await until("ready", () => {
        world.poke("agent");
        return world.condition("Ready", "agent") === "True/Ready";
      });
      await world.rest();
      expect(await side().read(secret)).toEqual(present);
      expect(world.decide(plaintext)).toBe("allowed");
      expect((await world.stored("agent")).versions.find(({ state }) => state === "active")?.number).toBe(1);
    });
  });
});
