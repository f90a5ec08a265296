import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, symlink } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { UpOptions } from "@pulumi/pulumi/automation/index.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ModelGateway, PlatformKey, PlatformTeam } from "../../../infra/pulumi/resources.ts";
import { itByNight } from "../../env/night-test.ts";
import { NIGHTLY } from "../../env/nightly.ts";
import { describeOnPulumi, type TestStack } from "../../env/pulumi.ts";
import { until } from "../../env/until.ts";
import { type ApiProxy, type Fate, startApiProxy } from "./api-proxy.ts";
import { textsBelow } from "./files.ts";

/** Where an `up` is killed: at the first request of that kind, before the server has it, after, or once it is answered. */
type Trap = { readonly at: string; readonly fate: Fate | "held" };

/** From the first request of a new key to the last one that takes up what a killed `up` has left. */
const WAY: readonly Trap[] = [
  { at: "POST keys", fate: "breaks" },
  { at: "POST keys", fate: "breaks answered" },
  { at: "POST keys", fate: "held" },
  { at: "POST keys/*/versions", fate: "breaks" },
  { at: "POST keys/*/versions", fate: "breaks answered" },
  { at: "POST keys/*/versions", fate: "held" },
];
const TRAPS = NIGHTLY ? WAY : WAY.filter(({ fate }) => fate === "breaks answered");

describeOnPulumi("an up that is killed", ({ makeStack, manage, call, url, path }) => {
  let proxy: ApiProxy;
  beforeAll(async () => {
    proxy = await startApiProxy(url);
  });
  afterAll(() => proxy?.close());

  /** Runs `up` until it is killed in the trap. */
  async function killedAt(
    { at, fate }: Trap,
    { stack, kill, cli }: TestStack,
    hold: string,
    options: UpOptions = {},
  ): Promise<void> {
    const trap = Promise.withResolvers<void>();
    let armed = true;
    const isIt = ({ method, path }: { method: string; path: string }) =>
      armed && `${method} ${path}`.replace(/keys\/key_\w+/, "keys/*") === at;
    proxy.watch(async (request) => {
      if (!isIt(request) || fate === "held") return "passes";
      armed = false;
      if (fate === "breaks") await kill();
      return fate;
    });
    proxy.onAnswer(async (request) => {
      if (fate === "held" && isIt(request)) {
        armed = false;
        writeFileSync(hold, "");
        until("the provider's answer", () => readFileSync(hold, "utf8") === "held")
          .then(kill)
          .then(trap.resolve);
      } else if (fate === "breaks answered" && !armed) {
        await kill();
      }
    });
    await expect(stack.up(options)).rejects.toThrow();
    expect(armed, `${at} was never asked`).toBe(false);
    if (fate === "held") await trap.promise;
    rmSync(hold, { force: true });
    proxy.watch(() => "passes");
    proxy.onAnswer(async () => {});
    // The lock of the state is still there: that is what a person would say, too.
    expect(await cli("cancel", "--yes")).toMatchObject({ failed: false });
  }

  async function relayed(program: () => Promise<Record<string, unknown>>, name: string) {
    const env: Record<string, string> = { KEYPLANE_URL: proxy.url };
    const made = await makeStack(program, { project: name, env });
    const bin = join(made.folder, "bin");
    await mkdir(bin);
    await symlink(join(import.meta.dirname, "relay.ts"), join(bin, "pulumi-resource-keyplane"));
    const hold = join(made.folder, "hold");
    Object.assign(made.stack.workspace.envVars, { PATH: [bin, path].join(delimiter), HOLD: hold });
    return { ...made, hold };
  }

  const living = async (team: string) =>
    (await manage("GET", `keys?team=${team}&state=active`)).body.items.map(({ id }: { id: string }) => id);

  it("b76: at every step in turn, and repeated, leaves one living key, whose secret is the one that comes out", async () => {
    await manage("POST", "teams", { name: "killed", spec: {} });
    const made = await relayed(async () => {
      const { secret, keyID } = new PlatformKey("key", { team: "killed", preset: "MCPReadOnly" });
      return { secret, keyID };
    }, "killed");
    let seen = 0;
    for (const trap of TRAPS) {
      await killedAt(trap, made, made.hold);
      const count = (await living("killed")).length;
      expect(count, `${trap.at} ${trap.fate}`).toBeLessThanOrEqual(1);
      seen += count;
    }
    expect(seen).toBeGreaterThan(TRAPS.length / 2);
    // b75: what the crashes left behind.
    expect(textsBelow(made.folder).filter(([, text]) => /inf_[0-9A-Za-z]{57}/.test(text))).toEqual([]);

    const { outputs, stdout } = await made.stack.up();
    expect(stdout).toContain("made for this URN before: it is taken up, with a new secret");
    expect(await living("killed")).toEqual([outputs.keyID?.value]);
    const { body } = await manage("GET", `keys/${outputs.keyID?.value}`);
    const working = body.versions.filter(({ state }: { state: string }) => ["active", "retiring"].includes(state));
    expect(working).toMatchObject([{ prefix: outputs.secret?.value.slice(0, 12), state: "active" }]);
    expect(await call(outputs.secret?.value)).toBe(200);
    await made.stack.destroy();
    expect(await living("killed")).toEqual([]);
  });

  itByNight("b76: in a rotation, and repeated, leaves the old secret its overlap, and one key", async () => {
    let trigger = "1";
    await manage("POST", "teams", { name: "killed-rotating", spec: {} });
    const made = await relayed(async () => {
      const rotation = { trigger, overlap: "1h" };
      const { secret, previousSecret, keyID } = new PlatformKey("key", {
        team: "killed-rotating",
        preset: "MCPReadOnly",
        rotation,
      });
      return { secret, previousSecret, keyID };
    }, "killed-rotating");
    const first = await made.stack.up();
    trigger = "2";
    await killedAt({ at: "POST keys/*/versions", fate: "breaks answered" }, made, made.hold);
    expect(await call(first.outputs.secret?.value)).toBe(200);
    const { outputs } = await made.stack.up();
    expect(outputs.keyID).toEqual(first.outputs.keyID);
    expect(await living("killed-rotating")).toEqual([outputs.keyID?.value]);
    expect([await call(first.outputs.secret?.value), await call(outputs.secret?.value)]).toEqual([200, 200]);
  });

  itByNight(
    "c56: loses the answers to a rotation, twice or all of them: it is one version, and its secret comes out",
    async () => {
      let trigger = "1";
      await manage("POST", "teams", { name: "answers-lost", spec: {} });
      const made = await relayed(async () => {
        const rotation = { trigger, overlap: "1h" };
        const { secret, previousSecret, keyID } = new PlatformKey("key", {
          team: "answers-lost",
          preset: "MCPReadOnly",
          rotation,
        });
        return { secret, previousSecret, keyID };
      }, "answers-lost");
      const first = (await made.stack.up()).outputs;
      const states = async () => {
        const { versions } = (await manage("GET", `keys/${first.keyID?.value}`)).body;
        return versions.map(({ number, state }: { number: number; state: string }) => `${number} ${state}`);
      };
      /** How many answers to a rotation are lost from here on. */
      let losing = 2;
      proxy.watch(({ method, path }) =>
        method === "POST" && path.endsWith("/versions") && losing-- > 0 ? "breaks answered" : "passes",
      );
      trigger = "2";
      const second = (await made.stack.up()).outputs;
      expect([await states(), losing]).toEqual([["2 active", "1 retiring"], -1]);
      expect(second.previousSecret).toEqual(first.secret);
      expect([await call(first.secret?.value), await call(second.secret?.value)]).toEqual([200, 200]);

      losing = Number.POSITIVE_INFINITY;
      trigger = "3";
      const { failed, out } = await made.try(made.stack.up());
      expect([failed, out.includes("no answer from")]).toEqual([true, true]);
      const three = ["3 active", "2 retiring", "1 retiring"];
      expect(await states()).toEqual(three);
      await made.stack.refresh();
      const third = (await made.stack.up()).outputs;
      expect(await states()).toEqual(three);
      expect(third.previousSecret).toEqual(second.secret);
      expect(await call(third.secret?.value)).toBe(200);

      // The same where the request was lost, not its answer.
      proxy.watch(({ method, path }) => (method === "POST" && path.endsWith("/versions") ? "breaks" : "passes"));
      trigger = "4";
      expect((await made.try(made.stack.up())).failed).toBe(true);
      expect(await states()).toEqual(three);
      proxy.watch(() => "passes");
      const fourth = (await made.stack.up()).outputs;
      expect(await states()).toEqual(["4 active", "3 retiring", "2 retiring", "1 retiring"]);
      expect([fourth.previousSecret, await call(fourth.secret?.value)]).toEqual([third.secret, 200]);
      expect((await made.stack.preview()).changeSummary).toEqual({ same: 2 });
      // b75: nor was it anywhere in clear meanwhile.
      expect(textsBelow(made.folder).filter(([, text]) => /inf_[0-9A-Za-z]{57}/.test(text))).toEqual([]);
      expect(JSON.stringify(await made.stack.exportStack())).not.toContain("pendingSecret");
    },
  );

  itByNight("b76: finds the gateway that it made, with the credential that the program has now", async () => {
    let credential = "sk-first";
    await manage("POST", "teams", { name: "killed-gateway", spec: {} });
    const made = await relayed(async () => {
      const upstreams = [
        { name: "openai", dialect: "openai", baseURL: "https://api.example.com", credential },
      ] as const;
      const gateway = new ModelGateway("main", { team: "killed-gateway", upstreams: [...upstreams] });
      return { publicID: gateway.publicID };
    }, "killed-gateway");
    await killedAt({ at: "POST gateways", fate: "breaks answered" }, made, made.hold);
    credential = "sk-second";
    const { outputs } = await made.stack.up();
    const { body } = await manage("GET", "gateways?team=killed-gateway");
    expect(body.items).toMatchObject([{ publicID: outputs.publicID?.value }]);
    // Destroyed and made again, it is another one, whatever the API still knows of the first.
    await made.stack.destroy();
    await made.stack.up();
    expect((await manage("GET", "gateways?team=killed-gateway")).body.items).toHaveLength(1);
  });

  itByNight(
    "b76: between a replacement of the same name and the removal of what it replaces, leaves the key alive",
    async () => {
      let isLate = false;
      await manage("POST", "teams", { name: "killed-replacing", spec: {} });
      const made = await relayed(async () => {
        const key = new PlatformKey("key", { team: "killed-replacing", preset: "MCPReadOnly" });
        if (isLate) new PlatformTeam("late", { name: "late" }, { dependsOn: key });
        return { secret: key.secret, keyID: key.keyID };
      }, "killed-replacing");
      const first = (await made.stack.up()).outputs;
      isLate = true;
      const urn = "urn:pulumi:test::killed-replacing::keyplane:index:PlatformKey::key";
      await killedAt({ at: "POST teams", fate: "breaks" }, made, made.hold, { replace: [urn] });
      const { outputs } = await made.stack.up();
      expect(outputs.keyID).toEqual(first.keyID);
      expect(await call(outputs.secret?.value)).toBe(200);
      expect(await living("killed-replacing")).toEqual([outputs.keyID?.value]);
      await made.stack.destroy();
      expect(await call(outputs.secret?.value)).toBe(401);
    },
  );

  it("b76: takes up no key that is used: another stack of the same project and name goes on with it", async () => {
    await manage("POST", "teams", { name: "twins", spec: {} });
    const program = async () => {
      const { secret, keyID } = new PlatformKey("key", { team: "twins", preset: "MCPReadOnly" });
      return { secret, keyID };
    };
    const [one, other] = [await makeStack(program), await makeStack(program)];
    const { secret, keyID } = (await one.stack.up()).outputs;
    await call(secret?.value);
    const used = async () => (await manage("GET", `keys/${keyID?.value}`)).body.lastUsedAt;
    await until("its use is known", used);
    const { failed, out } = await other.try(other.stack.up());
    expect(failed).toBe(true);
    expect(out).toContain("and is in use");
    expect(out).toContain(`pulumi import keyplane:index:PlatformKey key ${keyID?.value}`);
    expect(await call(secret?.value)).toBe(200);
    expect((await one.stack.preview()).changeSummary).toEqual({ same: 2 });
  });

  itByNight("takes up nothing that another stack has made", async () => {
    const program = async () => {
      const { name: team } = new PlatformTeam("team", { name: "mine" }, { retainOnDelete: true });
      new PlatformKey("key", { team, name: "mine", preset: "MCPReadOnly" });
    };
    const mine = await makeStack(program, { project: "mine" });
    await mine.stack.up();
    const other = await makeStack(
      async () => {
        new PlatformKey("key", { team: "mine", name: "mine", preset: "MCPReadWrite" });
      },
      { project: "other" },
    );
    const { out, failed } = await other.try(other.stack.up());
    const [id] = await living("mine");
    expect(failed).toBe(true);
    expect(out).toContain(`pulumi import keyplane:index:PlatformKey key ${id}`);
    expect((await manage("GET", `keys/${id}`)).body.spec).toEqual({ preset: "MCPReadOnly", state: "Active" });
  });
});
