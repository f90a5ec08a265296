import { expect, it } from "vitest";
import { until } from "../../env/until.ts";
import { describeWorldsInSequenceOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { key, type Manifest, startWorld } from "../fixtures/world.ts";

const upstream = { name: "openai", dialect: "openai", baseURL: "https://api.example.com" };
const gateway = (name: string, publicID: string): Manifest => ({
  ...{ kind: "ModelGateway", name },
  spec: { publicID, upstreams: [{ ...upstream, credentialRef: { name: "agent" } }] },
});

let count = 0;

describeWorldsInSequenceOnKubernetes("b422: a gateway", (setup) => {
  it.for<[secret: string, fields: Record<string, unknown>]>([
    ["goes with it", {}],
    ["outlives it", { secret: { creationPolicy: "Orphan" } }],
  ])("sends no provider the key of a PlatformKey whose Secret %s", async ([, fields], context) => {
    const publicID = `key-${count++}`;
    const world = await startWorld(context, setup(), gateway("main", publicID), key("agent", fields));
    const message = () =>
      world.get("ModelGateway", "main")?.status?.conditions?.find(({ type }) => type === "ResolvedRefs")?.message;
    await until("the gateway has seen it", () => message()?.includes("which PlatformKey agent writes"));
    expect(setup().view.findGateway(publicID)?.upstreams[0]?.credential).toBeNull();
  });
});
