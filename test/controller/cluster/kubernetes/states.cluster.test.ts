/** What a person and a pipeline see of each state: kubectl's columns, the next step in words, and kstatus. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { REASONS } from "../../../../domain/conditions.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../../store/database/store.ts";
import { type Controller, startController } from "../../../env/controller.ts";
import { migratedDatabase } from "../../../env/database/engines.ts";
import { API, inNamespace, type Key } from "../../../env/kubernetes/declarations.ts";
import { kstatusOf } from "../../../env/kubernetes/kstatus.ts";
import { type LentKubernetes, lendKubernetes } from "../../../env/kubernetes/lent.ts";
import { until } from "../../../env/until.ts";
import { declare, STATES, secret, upstreams, type World } from "./states.ts";

describe("what is seen of a declaration", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let store: Store;
  let controller: Controller;
  let world: World;

  const list = (plural: string, ...flags: string[]) =>
    kubernetes.kubectl(["get", plural, "--namespace", "states", ...flags]);

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    store = await openPostgres(database.url);
    for (const name of ["states", "teamless"]) {
      await kubernetes.request("POST", "/api/v1/namespaces", { body: JSON.stringify({ metadata: { name } }) });
    }
    world = inNamespace(kubernetes, "states");
    const team = declare("platformteams", "states", "{ namespaces: [states] }");
    const gateway = declare("modelgateways", "first", `{ publicID: first, ${upstreams("provider")} }`);
    await world.apply(
      secret("provider") + team + gateway + declare("platformkeys", "early", "{ preset: MCPReadOnly }"),
    );
  });

  afterAll(async () => {
    await controller?.stop();
    await store?.close();
    await database?.drop();
    await kubernetes?.close();
  });

  it("is Pending, and no success for a client that waits, before a controller has been there", async () => {
    const early = (await world.key("early")) ?? expect.fail("it is gone");
    expect(kstatusOf(early)).toBe("InProgress");
    expect(await list("platformkeys")).toMatch(/early +Unknown +Pending/);
    const { kubeconfigPath: kubeconfig } = kubernetes;
    const encryptionKey = randomBytes(32).toString("base64");
    controller = await startController({ kubeconfig, databaseUrl: database.url, encryptionKey });
    await world.ready("early");
    const gateway = () => world.read<KeyStatusView>(world.path("modelgateways", "first"));
    await until("the gateway is served", async () => readyOf(await gateway())?.status === "True");
    const manifests = STATES.map(
      ({ kind = "platformkeys", name, spec, before = "" }) => before + declare(kind, name, spec),
    );
    await world.apply(manifests.join(""));
  });

  it.each(STATES)("$name is $ready for reason $reason, and $kstatus to kstatus", async (state) => {
    const { kind = "platformkeys", name } = state;
    const path = kind === "platformteams" ? `${API}/platformteams/${name}` : world.path(kind, name);
    if (state.afterwards !== undefined) {
      await world.ready(name);
      await state.afterwards(world, store);
    }
    const seen = await until(`${name} is ${state.reason}`, async () => {
      const object = (await world.read<KeyStatusView>(path)) ?? expect.fail("it is gone");
      const isSeen = object.status?.observedGeneration === object.metadata.generation;
      return isSeen && readyOf(object)?.reason === state.reason ? object : undefined;
    });
    expect(readyOf(seen)?.status).toBe(state.ready);
    expect(kstatusOf(seen)).toBe(state.kstatus);
    expect(await list(kind)).toMatch(new RegExp(`^${name} +${state.ready} +${state.reason} `, "m"));
    if (state.ready === "True") return;
    expect(REASONS[state.reason], "a next step").not.toBe("");
    expect(await list(kind, "--output", "wide")).toContain(`${readyOf(seen)?.message}`);
    expect(readyOf(seen)?.message).toContain(REASONS[state.reason]);
  });

  it("a namespace without a team says so, and is in progress: its team may be applied later", async () => {
    const teamless = inNamespace(kubernetes, "teamless");
    await teamless.apply(declare("platformkeys", "reader", "{ preset: MCPReadOnly }"));
    const seen = await teamless.holds("has no team", "reader", (_, reason) => reason === "NamespaceUnclaimed");
    expect(kstatusOf(seen)).toBe("InProgress");
  });

  it("a key with two versions that work is distinguished from the others", async () => {
    const table = await list("platformkeys", "--output", "wide");
    const [header = "", ...rows] = table.split("\n");
    const at = header.indexOf("ROTATING");
    const rotating = rows.filter((row) => row.slice(at).startsWith("True")).map((row) => row.split(" ")[0]);
    expect(rotating).toEqual(["rotating"]);
  });
});

type KeyStatusView = Pick<Key, "metadata" | "status">;
const readyOf = (object: KeyStatusView | undefined) => object?.status?.conditions?.find(({ type }) => type === "Ready");
