/** A kind whose definition is updated while its controller watches, as an upgrade does before it exchanges the controller. */
import { expect, it } from "vitest";
import { objectPath } from "../../../controller/cluster/kubernetes/resources.ts";
import { until } from "../../env/until.ts";
import { describeWorldsInSequenceOnKubernetes } from "../fixtures/kubernetes-setup.ts";
import { key, startWorld } from "../fixtures/world.ts";

type Definition = { readonly spec: { readonly versions: readonly { readonly schema: object }[] } };
type Key = { readonly metadata: { readonly finalizers?: readonly string[] }; readonly spec: { displayName?: string } };

const FIELD = "/schema/openAPIV3Schema/properties/spec/properties/displayName";
const MERGE = "application/merge-patch+json";

describeWorldsInSequenceOnKubernetes("a key whose kind gains a field", (setup, kubernetes) => {
  const crd = ["crd", "platformkeys.keyplane.dev"];
  const patch = (operations: readonly object[]) =>
    kubernetes().kubectl(["patch", ...crd, "--type=json", "--patch", JSON.stringify(operations)]);

  it("c83: has it applied, and keeps it where the controller writes a status or a finalizer", async (context) => {
    const { spec } = JSON.parse(await kubernetes().kubectl(["get", ...crd, "-o", "json"])) as Definition;
    const paths = spec.versions.map((_, place) => `/spec/versions/${place}${FIELD}`);
    await patch(paths.map((path) => ({ op: "remove", path })));
    const world = await startWorld(context, setup(), key("agent"));
    const path = objectPath({ kind: "PlatformKey", namespace: `dev${world.tag}`, name: "agent" });
    const change = async (body: object, query = "") =>
      (await kubernetes().request("PATCH", `${path}${query}`, { body: JSON.stringify(body), contentType: MERGE }))
        .body as Key;
    const named = (displayName: string) => ({ spec: { displayName } });
    await until(
      "the field is not known",
      async () => !("displayName" in (await change(named("One"), "?dryRun=All")).spec),
    );

    await patch(paths.map((path) => ({ op: "add", path, value: { type: "string" } })));
    await until("the field is known", async () => "displayName" in (await change(named("One"), "?dryRun=All")).spec);
    for (const name of ["One", "Two"]) {
      await change(named(name));
      await until("it is applied", async () => (await world.stored("agent")).policy.displayName === name);
      await change({ metadata: { finalizers: null } });
      await until("the finalizer is there again", async () => (await change({})).metadata.finalizers?.length === 1);
      expect((await change({})).spec).toMatchObject({ displayName: name });
    }
  });
});
