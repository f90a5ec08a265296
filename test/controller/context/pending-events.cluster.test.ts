import { expect, it } from "vitest";
import { eventsPath } from "../../../controller/cluster/kubernetes/resources.ts";
import { until } from "../../env/until.ts";
import { describeWorldsOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { makeKubernetesSide } from "../fixtures/kubernetes-side.ts";
import { NAMESPACE, startWorld, team, type WorldSetup } from "../fixtures/world.ts";
import { misspelt, UNCLAIMED, warnings, withLastingRefusals } from "../lasting-refusals.ts";

describeWorldsOnKubernetes("a refusal that may be the order of a start", (setup, kubernetes) => {
  const withNamespaces = (): WorldSetup => ({
    ...setup(),
    side: (shift) => makeKubernetesSide(kubernetes(), shift, { namespaces: [NAMESPACE, UNCLAIMED] }),
  });

  withLastingRefusals(withNamespaces);

  it("is an event that the API server has, with the message of its status", async (context) => {
    const world = await startWorld(context, withNamespaces());
    const all = misspelt();
    await world.declare(...Object.values(all));
    await world.advance(31_000);
    const recorded = async (namespace: string) => {
      const { body } = await kubernetes().request("GET", eventsPath(namespace));
      const { items } = body as {
        items: { type: string; reason: string; note: string; regarding: { name: string } }[];
      };
      return items.filter(({ regarding }) => namespace !== "" || regarding.name.endsWith(world.tag));
    };
    for (const [reason, manifest] of Object.entries(all)) {
      const namespace = manifest.kind === "PlatformTeam" ? "" : `${manifest.namespace ?? NAMESPACE}${world.tag}`;
      const event = await until(reason, async () => (await recorded(namespace)).find((one) => one.reason === reason));
      const { kind, name, namespace: place } = manifest;
      if (kind === "Secret") expect.fail();
      const ready = world.get(kind, name, place)?.status?.conditions?.find(({ type }) => type === "Ready");
      expect([event.type, event.note]).toEqual(["Warning", ready?.message]);
    }
  });

  it("is a line of the log, too, where it is an event at once", async (context) => {
    const world = await startWorld(context, withNamespaces());
    const rival = team("team-b", [NAMESPACE]);
    await world.declare(rival);
    expect(warnings(world, rival)).toEqual(["NamespaceTaken"]);
  });
});
