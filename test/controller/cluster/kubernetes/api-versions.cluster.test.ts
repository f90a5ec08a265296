/** Declarations under another version of our kinds, and how one version is left for the next. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { definitionPath } from "../../../../controller/cluster/kubernetes/resources.ts";
import { KINDS } from "../../../../domain/kinds/kinds.ts";
import { keyplane } from "../../../cli/up.ts";
import { type Controller, startController } from "../../../env/controller.ts";
import { migratedDatabase } from "../../../env/database/engines.ts";
import { inNamespace } from "../../../env/kubernetes/declarations.ts";
import { type LentKubernetes, lendKubernetes } from "../../../env/kubernetes/lent.ts";
import { keyManifest, teamManifest } from "../../../env/kubernetes/manifests.ts";
import { until } from "../../../env/until.ts";

const BETA = (teamManifest("research", "default") + keyManifest("reader")).replaceAll("v1alpha1", "v1beta1");
const MANIFESTS = BETA + keyManifest("writer");

describe("the versions of a kind", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let controller: Controller;

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    await kubernetes.installCrds();
    const { kubeconfigPath: kubeconfig } = kubernetes;
    const encryptionKey = randomBytes(32).toString("base64");
    controller = await startController({ kubeconfig, databaseUrl: database.url, encryptionKey });
  });

  afterAll(async () => {
    await controller?.stop();
    await database?.drop();
    await kubernetes?.close();
  });

  const get = async (version: string, name: string) => {
    const path = `/apis/keyplane.dev/${version}/namespaces/default/platformkeys/${name}`;
    return (await kubernetes.request("GET", path)).body as {
      apiVersion: string;
      metadata: { uid: string; generation: number; resourceVersion: string };
      spec: object;
      status: { currentVersion: number; observedGeneration: number };
    };
  };
  const definition = async () => (await kubernetes.request("GET", definitionPath("PlatformKey"))).body;

  it("are one object: either makes it, shows it and changes it", async () => {
    const world = inNamespace(kubernetes, "default");
    await world.apply(MANIFESTS);
    await Promise.all([world.ready("reader"), world.ready("writer")]);
    const [alpha, beta] = [await get("v1alpha1", "reader"), await get("v1beta1", "reader")];
    expect(beta).toMatchObject({ apiVersion: "keyplane.dev/v1beta1", metadata: { uid: alpha.metadata.uid } });
    expect([beta.spec, beta.status]).toEqual([alpha.spec, alpha.status]);
    await world.apply(MANIFESTS.replaceAll("v1beta1", "v1alpha1").replace("MCPReadOnly", "MCPReadWrite"));
    await until(
      "the change is worked on",
      async () => (await get("v1beta1", "reader")).status.observedGeneration === 2,
    );
    const changed = await get("v1beta1", "reader");
    expect(changed.metadata.uid).toBe(alpha.metadata.uid);
    expect([changed.spec, changed.status.currentVersion]).toEqual([
      expect.objectContaining({ preset: "MCPReadWrite" }),
      1,
    ]);
  });

  it("name a Secret's owner by the one that the API server prefers, as Kubernetes' garbage collector does", async () => {
    const read = async (path: string) => (await kubernetes.request("GET", path)).body;
    const group = (await read("/apis/keyplane.dev")) as { preferredVersion: { groupVersion: string } };
    expect(await read("/api/v1/namespaces/default/secrets/reader")).toMatchObject({
      metadata: { ownerReferences: [{ apiVersion: group.preferredVersion.groupVersion, kind: "PlatformKey" }] },
    });
  });

  it("c48: a Secret whose owner was named by another one has it named anew, and nothing else changed", async () => {
    const path = "/api/v1/namespaces/default/secrets/reader";
    type Secret = { readonly metadata: { readonly ownerReferences: { apiVersion: string }[] }; readonly data: object };
    const read = async () => (await kubernetes.request("GET", path)).body as Secret;
    const before = await read();
    const ownerReferences = before.metadata.ownerReferences.map((one) => ({
      ...one,
      apiVersion: "keyplane.dev/v1alpha1",
    }));
    await inNamespace(kubernetes, "default").change(path, { metadata: { ownerReferences } });
    await until("it is named as before", async () => {
      const { ownerReferences } = (await read()).metadata;
      return JSON.stringify(ownerReferences) === JSON.stringify(before.metadata.ownerReferences);
    });
    expect((await read()).data).toEqual(before.data);
  });

  it("leave what is stored as it is when another is to be stored, until keyplane migrate-api-version moves it", async () => {
    const flags = ["--kubeconfig", kubernetes.kubeconfigPath];
    const stays = KINDS.map((kind) => `${kind}: all are stored as v1alpha1`);
    expect(await keyplane(["migrate-api-version", ...flags])).toEqual({
      code: 0,
      out: `${stays.join("\n")}\n`,
      err: "",
    });

    const flip = [
      { op: "replace", path: "/spec/versions/0/storage", value: false },
      { op: "replace", path: "/spec/versions/1/storage", value: true },
    ];
    const patch = ["patch", "crd", "platformkeys.keyplane.dev", "--type=json", "--patch"];
    await kubernetes.kubectl([...patch, JSON.stringify(flip)]);
    await until("both may be stored", async () =>
      JSON.stringify(await definition()).includes('"storedVersions":["v1alpha1","v1beta1"]'),
    );
    const drop = JSON.stringify([{ op: "remove", path: "/spec/versions/0" }]);
    const refused = await kubernetes.runKubectl([...patch, drop]);
    expect(refused.stderr).toContain("must remain in spec.versions until a storage migration");

    const before = await get("v1alpha1", "reader");
    const dry = await keyplane(["migrate-api-version", "--dry-run", ...flags]);
    expect(dry.out).toContain("PlatformKey: some may be stored as v1alpha1, to become v1beta1\n");
    const document = await keyplane(["migrate-api-version", "--dry-run", "-o", "json", ...flags]);
    expect(JSON.parse(document.out)).toMatchObject({ dryRun: true });
    expect(JSON.parse(document.out).kinds).toContainEqual({
      kind: "PlatformKey",
      storage: "v1beta1",
      others: ["v1alpha1"],
      objects: null,
    });
    expect(await get("v1alpha1", "reader")).toEqual(before);

    const moved = await keyplane(["migrate-api-version", ...flags]);
    expect(moved).toMatchObject({ code: 0, err: "" });
    expect(moved.out).toContain("PlatformKey: 2 objects, all stored as v1beta1 now; before also v1alpha1\n");
    const after = await get("v1alpha1", "reader");
    expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
    expect([after.spec, after.status, after.metadata.generation]).toEqual([
      before.spec,
      before.status,
      before.metadata.generation,
    ]);
    expect(await definition()).toMatchObject({ status: { storedVersions: ["v1beta1"] } });
    const again = await keyplane(["migrate-api-version", ...flags]);
    expect(again.out).toContain("PlatformKey: all are stored as v1beta1\n");
    expect((await get("v1beta1", "reader")).metadata.resourceVersion).toBe(after.metadata.resourceVersion);
  });
});
