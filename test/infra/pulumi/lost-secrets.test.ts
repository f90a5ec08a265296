/** What becomes of a key whose new secret the provider has asked for in vain. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openApi } from "../../../infra/pulumi/provider/api/api.ts";
import { Refusal, UnreachableError } from "../../../infra/pulumi/provider/api/refusal.ts";
import { diffResource } from "../../../infra/pulumi/provider/diff.ts";
import { versionReason } from "../../../infra/pulumi/provider/key-secret.ts";
import {
  type CreatedResource,
  createResource,
  HalfDoneError,
  type PulumiResource,
  updateResource,
} from "../../../infra/pulumi/provider/lifecycle.ts";
import { readResource } from "../../../infra/pulumi/provider/read-resource.ts";
import { RESOURCES } from "../../../infra/pulumi/provider/resources.ts";
import { revealUpdate } from "../../../infra/pulumi/provider/update.ts";
import { revealAll, type Values } from "../../../infra/pulumi/provider/values.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { type Api, startApi, TOKEN } from "../../server/management/api.ts";

/**
 * Fate of requests for a version: lost before the server has it, or its answer is lost, or it is refused, also where it
 * repeats one whose answer was lost.
 */
type Fate = "passes" | "lost" | "answer lost" | "refused" | "answer lost, then refused";

const kind = RESOURCES.get("keyplane:index:PlatformKey") ?? expect.fail("no key");

/** A key in the state of a stack. */
class Key {
  readonly #resource: PulumiResource;
  #state: CreatedResource & { readonly inputs: Values } = { id: "", outputs: {}, inputs: {} };
  fate: Fate = "passes";
  now = Date.now();

  constructor(url: string, name: string) {
    const api = openApi({ url, token: TOKEN, tokenFile: undefined });
    const send: typeof api.send = async (method, path, ...rest) => {
      const fate = path.endsWith("/versions") ? this.fate : "passes";
      if (fate === "refused") throw new Refusal(429, { code: "rate_limited" });
      if (fate === "lost") throw new UnreachableError("no answer");
      const answer = await api.send(method, path, ...rest);
      if (fate === "answer lost") throw new UnreachableError("no answer");
      if (fate === "answer lost, then refused") throw new Refusal(429, { code: "rate_limited" }, true);
      return answer;
    };
    const subject = { type: kind.type, noun: kind.noun, resource: name, name };
    this.#resource = { api: { send }, kind, urn: `urn:pulumi:dev::app::${kind.type}::${name}`, subject };
  }

  get id(): string {
    return this.#state.id;
  }

  get secret(): string {
    return String(revealAll(this.#state.outputs).secret);
  }

  #inputs(rotation: Values, spec: Values = {}): Values {
    return { name: this.#resource.subject.name, team: "lost", preset: "MCPReadOnly", rotation, ...spec };
  }

  async create(rotation: Values, spec?: Values): Promise<void> {
    const inputs = this.#inputs(rotation, spec);
    await this.#keep(inputs, () => createResource(this.#resource, inputs, new Map()));
  }

  /** Runs `up`. @returns why it gives the key another secret */
  async up(rotation: Values, spec?: Values): Promise<string | undefined> {
    const { id, outputs: olds, inputs: oldInputs } = this.#state;
    const update = { olds, oldInputs, news: this.#inputs(rotation, spec) };
    const { because, differences } = diffResource(kind, revealUpdate(update), this.now);
    if (because === undefined && differences.length === 0) return undefined;
    const act = async () => ({ id, outputs: await updateResource(this.#resource, id, update, this.now) });
    await this.#keep(update.news, act);
    return because;
  }

  async refresh(): Promise<void> {
    const { id, outputs, inputs } = this.#state;
    const found = await readResource(this.#resource, id, outputs, inputs);
    this.#state = typeof found === "string" ? expect.fail(found) : found;
  }

  async #keep(inputs: Values, act: () => Promise<CreatedResource>): Promise<void> {
    try {
      this.#state = { ...(await act()), inputs };
    } catch (error) {
      if (error instanceof HalfDoneError) this.#state = { ...error.made, inputs: error.inputs };
      else if (!(error instanceof Refusal)) throw error;
    }
  }
}

test("a state whose outputs alone have the new trigger, as earlier providers left it, gets a new secret", () => {
  const version = { prefix: "inf_AAAAAAAA", state: "active", mintedAt: new Date().toISOString() };
  const olds = { versions: [version], rotation: { trigger: "2" } };
  const update = { olds, oldInputs: { rotation: { trigger: "1" } }, news: { rotation: { trigger: "2" } } };
  expect(versionReason(update, Date.now())).toBe("TriggerChanged");
});

describeOnEitherEngine("a key whose new secret was asked for in vain", (store) => {
  let api: Api;
  beforeAll(async () => {
    api = await startApi(store());
    await api.send("POST", "/teams", { name: "lost", spec: {} });
  });
  afterAll(() => api.close());

  const versionsOf = async ({ id }: Key) =>
    (await api.send("GET", `/keys/${id}`)).body.versions.map(({ prefix }: { prefix: string }) => prefix);
  const prefixOf = ({ secret }: Key) => secret?.slice(0, 12);

  test("gets another by a trigger, after a refresh has found the one that an interval asked for", async () => {
    const key = new Key(api.url, "interval");
    const yearly = { interval: "8760h", overlap: "0s" };
    await key.create(yearly);
    key.now = Date.parse("2100-01-01T00:00:00Z");
    key.fate = "answer lost";
    await key.up(yearly);
    key.fate = "passes";
    key.now = Date.now();
    await key.refresh();
    const leaked = key.secret;
    expect(await versionsOf(key)).toEqual([prefixOf(key), expect.any(String)]);
    expect(await key.up(yearly)).toBeUndefined();
    await key.up({ ...yearly, trigger: "leaked" });
    expect([await api.tryKey(leaked), await api.tryKey(key.secret)]).toEqual([401, 200]);
  });

  describe.each<[boolean, Fate]>([
    [true, "answer lost"],
    [false, "answer lost"],
    [true, "answer lost, then refused"],
    [false, "answer lost, then refused"],
  ])("with a refresh thereafter: %s; %s", (isRefreshed, fate) => {
    const lose = async (name: string) => {
      const key = new Key(api.url, `${name}-${isRefreshed}-${fate.replaceAll(/\W+/g, "-")}`);
      await key.create({ trigger: "1" });
      key.fate = fate;
      await key.up({ trigger: "2" });
      key.fate = "passes";
      if (isRefreshed) await key.refresh();
      return key;
    };

    test("c56: gets by the same trigger the one that the server has, once", async () => {
      const key = await lose("same");
      await key.up({ trigger: "2" });
      expect(await key.up({ trigger: "2" })).toBeUndefined();
      expect(await versionsOf(key)).toEqual([prefixOf(key), expect.any(String)]);
    });

    test("gets another by another trigger", async () => {
      const key = await lose("other");
      await key.up({ trigger: "3" });
      expect(await versionsOf(key)).toEqual([prefixOf(key), expect.any(String), expect.any(String)]);
    });
  });

  test("gets it where its program has a new spec too, and the request that repeats it is refused", async () => {
    const key = new Key(api.url, "refused");
    await key.create({ trigger: "1" });
    key.fate = "lost";
    await key.up({ trigger: "2" });
    key.fate = "refused";
    await key.up({ trigger: "2" }, { displayName: "New" });
    key.fate = "passes";
    await key.up({ trigger: "2" }, { displayName: "New" });
    expect(await versionsOf(key)).toEqual([prefixOf(key), expect.any(String)]);
  });

  test.each<[string, Fate, Values]>([
    ["has no answer", "lost", {}],
    ["is refused", "refused", {}],
    ["is refused, and whose secret no program sees", "refused", { deliver: "none" }],
  ])("taken up from a killed up, gets one after a refresh, where the request for it %s", async (what, fate, spec) => {
    const key = new Key(api.url, what.replaceAll(/\W+/g, "-"));
    await key.create({}, spec);
    key.fate = fate;
    await key.create({}, spec);
    key.fate = "passes";
    await key.refresh();
    expect(await key.up({}, spec)).toContain("its secret was lost");
    expect(await versionsOf(key)).toEqual([expect.any(String), expect.any(String)]);
    if (spec.deliver === undefined) expect(await api.tryKey(key.secret)).toBe(200);
    await key.refresh();
    expect(await key.up({}, spec)).toBeUndefined();
  });

  test("taken up from a killed up, has by a refresh the one whose answer was lost", async () => {
    const key = new Key(api.url, "found");
    await key.create({});
    key.fate = "answer lost";
    await key.create({});
    key.fate = "passes";
    await key.refresh();
    expect(await api.tryKey(key.secret)).toBe(200);
    expect(await key.up({})).toBeUndefined();
  });
});
