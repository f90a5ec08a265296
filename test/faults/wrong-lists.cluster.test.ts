/** Lists that lack what is there, and answers that say nothing: the API server is asked by name before anything ends. */
import { expect, it } from "vitest";
import { objectsPath } from "../../controller/cluster/kubernetes/resources.ts";
import { isClusterScoped, KINDS } from "../../domain/kinds/kinds.ts";
import { describeWorldsOnKubernetes } from "../controller/fixtures/kubernetes-setup.ts";
import { key, library, type Manifest, NAMESPACE, startWorld, type World } from "../controller/fixtures/world.ts";
import type { ApiCall, ApiProxy, Fate } from "../env/kubernetes/api-proxy.ts";
import type { Kubernetes } from "../env/kubernetes/client.ts";
import { until } from "../env/until.ts";
import { behindProxies } from "./behind-proxies.ts";

const OURS = /^\/apis\/keyplane\.dev\/v1alpha1\//;
const isOfOurs = (call: ApiCall) => call.method === "GET" && OURS.test(call.path);
const isList = (call: ApiCall) => isOfOurs(call) && call.query.get("limit") === "500";
const isByName = (call: ApiCall) => isOfOurs(call) && !call.isWatch && !call.query.has("limit");

const status = (code: number, reason: string, details: object = {}): Fate => ({
  do: "answer",
  status: code,
  body: { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: reason, details },
});

const provider: Manifest = { kind: "Secret", name: "provider", stringData: { "api-key": "sk-provider" } };

function gateway(publicID: string): Manifest {
  const upstream = { name: "openai", dialect: "openai", baseURL: "https://api.example.com" };
  const upstreams = [{ ...upstream, credentialRef: { name: "provider", key: "api-key" } }];
  return { kind: "ModelGateway", name: "models", spec: { publicID, upstreams } };
}

/** Has the next list of each collection be empty, once. */
function emptyNextLists(api: ApiProxy, kubernetes: Kubernetes, paths: ReadonlySet<string>): Promise<unknown> {
  const emptied = new Set<string>();
  api.rule(async (call) => {
    if (!isList(call) || !paths.has(call.path) || emptied.has(call.path)) return undefined;
    emptied.add(call.path);
    const { body } = await kubernetes.request("GET", `${call.path}?limit=1`);
    const { resourceVersion } = (body as { metadata: { resourceVersion: string } }).metadata;
    return { do: "answer", status: 200, body: { kind: "List", metadata: { resourceVersion }, items: [] } };
  });
  return until("each list was empty", () => emptied.size === paths.size);
}

/** Has each watch be refused as too old, once, so that its collection is listed again. */
function refuseWatchesOnce(api: ApiProxy, paths: ReadonlySet<string>): void {
  const refused = new Set<string>();
  api.rule((call) => {
    if (!call.isWatch || !paths.has(call.path) || refused.has(call.path)) return undefined;
    refused.add(call.path);
    return status(410, "Expired");
  });
  api.cutAll();
}

const collections = (world: World) =>
  new Set(KINDS.map((kind) => objectsPath(kind, isClusterScoped(kind) ? "" : `${NAMESPACE}${world.tag}`)));

describeWorldsOnKubernetes("a view that is wrong", (setup, kubernetes) => {
  it("c48: lists of every kind that are empty once end nothing, and nothing is forgotten meanwhile", async (context) => {
    const { api, setup: behind } = await behindProxies(context, kubernetes(), setup());
    const publicID = `g-${Math.random().toString(36).slice(2, 10)}`;
    const restricted = {
      preset: "MCPReadWrite",
      libraryAccess: { mode: "Restricted", libraryRefs: [{ name: "handbook" }] },
    };
    const declared = [provider, library("handbook", { deletionPolicy: "Delete" }), gateway(publicID)];
    const caller = key("caller", { preset: "GatewayDefault" });
    const world = await startWorld(context, behind, ...declared, key("agent", restricted), caller);
    const names = ["agent", "caller"];
    const plaintexts = await Promise.all(names.map((name) => world.plaintextOf(name)));
    const libraries = world.record(plaintexts[0] ?? "")?.libraryIds;
    const emptied = emptyNextLists(api, kubernetes(), collections(world));
    refuseWatchesOnce(api, collections(world));
    await emptied;
    const listed = api.calls.filter(isList).length;
    expect(names.map((name) => world.get("PlatformKey", name)?.name)).toEqual(names);
    await world.collectGarbage();
    await world.collectGarbage();
    await until("they are listed again", () => api.calls.filter(isList).length > listed);
    expect(names.map((name) => world.get("PlatformKey", name)?.name)).toEqual(names);
    expect(plaintexts.map((plaintext) => world.decide(plaintext))).toEqual(["allowed", "allowed"]);
    expect(world.decide(plaintexts[1] ?? "", "gateway.chat_completions", publicID)).toBe("allowed");
    expect(world.record(plaintexts[0] ?? "")?.libraryIds).toEqual(libraries);
    expect(world.get("PlatformTeam", "team-a")).toBeDefined();
    expect((await world.storedKeys()).map(({ state, lastNumber }) => [state, lastNumber])).toEqual([
      ["active", 1],
      ["active", 1],
    ]);
    await world.declare(key("agent", { ...restricted, displayName: "Still worked on" }));
    expect(world.condition("Ready", "agent")).toBe("True/Ready");
  });

  it("c48: a first list that is empty ends nothing: the rows of the store are asked for by name, and all is listed again", async (context) => {
    const { api, setup: behind } = await behindProxies(context, kubernetes(), setup());
    const world = await startWorld(context, behind, key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await world.stop();
    const emptied = emptyNextLists(api, kubernetes(), collections(world));
    await world.start();
    await emptied;
    expect(world.get("PlatformKey", "agent")).toBeUndefined();
    await world.collectGarbage();
    await world.collectGarbage();
    expect(world.decide(plaintext)).toBe("allowed");
    await until("it is worked on again", () => world.get("PlatformKey", "agent"));
    expect(world.lines.some((line) => /^a list lacked PlatformKey \S+\/agent, which is there/.test(line))).toBe(true);
  });

  const NOTHING: readonly [string, (call: ApiCall) => Fate][] = [
    ["a kind that is not served", () => ({ do: "answer", status: 404, body: "404 page not found" })],
    ["a kind that is not known", () => status(404, "NotFound")],
    ["a missing right", () => status(403, "Forbidden", detailsOf("agent"))],
    ["a server that is busy", () => status(429, "TooManyRequests", detailsOf("agent"))],
    ["a server that fails", () => status(500, "InternalError", detailsOf("agent"))],
    ["an answer about another", () => status(404, "NotFound", detailsOf("other"))],
    ["a connection that is cut", () => ({ do: "cut" })],
  ];

  it("c48: a question by name that is not answered with its own NotFound ends nothing; that does, at the second look", async (context) => {
    const { api, side, setup: behind } = await behindProxies(context, kubernetes(), setup());
    const world = await startWorld(context, behind, key("agent"));
    const plaintext = await world.plaintextOf("agent");
    await world.stop();
    await side().patch(key("agent"), { metadata: { finalizers: null } });
    await side().remove(key("agent"));
    await world.start();
    const path = side().pathOf(key("agent"));
    for (const [what, fate] of NOTHING) {
      const before = api.calls.length;
      const forget = api.rule((call) => (isByName(call) && call.path === path ? fate(call) : undefined));
      await world.collectGarbage();
      forget();
      expect(world.decide(plaintext), what).toBe("allowed");
      expect(api.calls.slice(before).filter((call) => call.path === path).length, what).toBeGreaterThanOrEqual(3);
    }
    await world.collectGarbage();
    await until("refused", () => world.decide(plaintext) === "unauthorized");
    expect((await world.storedKeys()).map(({ revocation }) => revocation?.reason)).toEqual(["Orphaned"]);
  });

  it("c48: another cluster behind the same address is believed in nothing, and nothing is done until the first is back", async (context) => {
    const { api, setup: behind } = await behindProxies(context, kubernetes(), setup());
    const world = await startWorld(context, behind, key("agent"), key("other"));
    const plaintexts = [await world.plaintextOf("agent"), await world.plaintextOf("other")];
    const standing = async () => (await world.storedKeys()).map(({ state, lastNumber }) => [state, lastNumber]);
    const forget = api.rule((call) => inAnEmptyCluster(call));
    api.cutAll();
    await until("it is noticed", () => world.cluster().isReplaced());
    // A status may be on its way just then, and is refused: a line reports that.
    await until("what was under way has ended", () => world.isIdle());
    const failures = () => world.lines.filter((line) => line.startsWith("while reconciling"));
    const refused = failures();
    expect(refused.filter((line) => !line.endsWith("nothing was sent"))).toEqual([]);
    expect(world.lines).toContainEqual(
      expect.stringMatching(/^the API server is another cluster's .*nothing is changed$/),
    );
    const written = api.calls.filter(({ method }) => method !== "GET").length;
    await world.loseSecret("agent");
    world.poke("agent");
    await world.collectGarbage();
    await world.collectGarbage();
    expect(plaintexts.map((plaintext) => world.decide(plaintext))).toEqual(["allowed", "allowed"]);
    expect(await standing()).toEqual(Array(2).fill(["active", 1]));
    expect(api.calls.filter(({ method }) => method !== "GET").length).toBe(written);
    expect(failures()).toEqual(refused);
    const place = { namespace: `${NAMESPACE}${world.tag}`, name: "agent" };
    await expect(world.cluster().readSecret(place.namespace, place.name)).rejects.toThrow(/another cluster/);
    const draft = { ...place, data: {}, labels: {}, annotations: {}, owner: null };
    await expect(world.cluster().createSecret(draft)).rejects.toThrow(/another cluster answers.*nothing was sent/);
    forget();
    api.cutAll();
    await until("the lost Secret is made anew", async () => (await world.readSecret("agent")) !== undefined);
    expect(world.cluster().isReplaced()).toBe(false);
    expect(world.decide(plaintexts[1] ?? "")).toBe("allowed");
  });
});

const detailsOf = (name: string) => ({ name, group: "keyplane.dev", kind: "platformkeys" });

/** What a cluster answers that has our kinds, and nothing of them. */
function inAnEmptyCluster({ method, path, isWatch }: ApiCall): Fate {
  const [name = "", kind = ""] = path.split("/").reverse();
  if (path.endsWith("/namespaces/kube-system")) {
    return { do: "answer", status: 200, body: { kind: "Namespace", metadata: { name, uid: "another-cluster" } } };
  }
  if (isWatch) return status(410, "Expired");
  const isCollection = method === "POST" || /^(platform|model|memory|secrets)/.test(name);
  if (method === "GET" && isCollection) {
    return { do: "answer", status: 200, body: { kind: "List", metadata: { resourceVersion: "7" }, items: [] } };
  }
  const group = OURS.test(path) ? { group: "keyplane.dev" } : {};
  return status(404, "NotFound", { ...group, kind, name });
}
