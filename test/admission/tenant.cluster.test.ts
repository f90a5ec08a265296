import { beforeAll, expect, test } from "vitest";
import { errorsOf, manifest, readText } from "../domain/manifest/read.ts";
import { describeOnKubernetes } from "../env/kubernetes/of-run.ts";
import { apply, createNamespaces, remove, urlOf } from "./apply.ts";

const NAMESPACE = "tenants";
const SPEC = "{ preset: MCPReadOnly }";
const key = (name: string, spec = SPEC, metadata: object = {}) =>
  manifest("PlatformKey", spec, { name, namespace: NAMESPACE, ...metadata });
const OWNER = { apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformKey", name: "other", uid: "1", controller: true };

/** What someone may who may declare keys in a namespace and nothing else. */
describeOnKubernetes("b70: A tenant who writes what only the cluster may", (kubernetes) => {
  let token = "";

  beforeAll(async () => {
    await createNamespaces(kubernetes(), [NAMESPACE]);
    const make = async (...args: string[]) => {
      const { code, stderr } = await kubernetes().runKubectl(["create", ...args, "--namespace", NAMESPACE]);
      expect(code, stderr).toBe(0);
    };
    await make("serviceaccount", "tenant");
    await make("role", "tenant", "--verb=get,create,update,patch,delete", "--resource=platformkeys.keyplane.dev");
    await make("rolebinding", "tenant", "--role=tenant", `--serviceaccount=${NAMESPACE}:tenant`);
    token = await kubernetes().createToken(NAMESPACE, "tenant");
  });

  test("b70: declares a key as every tenant may", async () => {
    expect(await apply(kubernetes(), key("plain"), { token })).toMatchObject({ accepted: true });
    await remove(kubernetes(), key("plain"));
  });

  test("b70: writes no status with the declaration", async () => {
    const text = `${key("status")}status: { team: other, keyID: key_stolen, effectiveScopes: [memory:write] }\n`;
    const { accepted, stored } = await apply(kubernetes(), text, { token });
    expect(accepted).toBe(true);
    expect(JSON.stringify(stored)).toContain('"reason":"Pending"');
    expect(JSON.stringify(stored)).not.toMatch(/key_stolen|"other"|memory:write/);
    await remove(kubernetes(), text);
  });

  test("b70: may not write a status by itself", async () => {
    await apply(kubernetes(), key("by-itself"), { token });
    const options = { token, contentType: "application/merge-patch+json", body: '{"status":{"team":"other"}}' };
    const answer = await kubernetes().request("PATCH", `${urlOf(key("by-itself"))}/status`, options);
    expect(answer).toMatchObject({ status: 403 });
    await remove(kubernetes(), key("by-itself"));
  });

  test.each([
    ["finalizers", { finalizers: ["example.com/held"] }],
    ["ownerReferences", { ownerReferences: [OWNER] }],
    ["a generation", { generation: 9 }],
    ["a deletion", { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 0 }],
  ])("b70: changes nothing of what is declared by writing %s", async (_, metadata) => {
    const text = key("metadata", SPEC, metadata);
    const { accepted, stored } = await apply(kubernetes(), text, { token, dryRun: true });
    expect(accepted).toBe(true);
    expect(stored).toMatchObject({ metadata: { generation: 1 }, spec: specOf(key("metadata")) });
    expect(readText(text).manifests).toEqual(readText(key("metadata")).manifests);
  });

  test("b70: cannot take another object's uid", async () => {
    expect(await apply(kubernetes(), key("uid", SPEC, { uid: "0" }), { token })).toMatchObject({
      accepted: false,
      message: expect.stringContaining("uid mismatch"),
    });
  });

  test("b70: claims no team in a key, and declares none", async () => {
    const claim = key("team", "{ preset: MCPReadOnly, team: other }");
    expect(await apply(kubernetes(), claim, { token })).toMatchObject({ accepted: false });
    expect(errorsOf(claim)).toEqual([expect.stringContaining("spec.team: unknown field")]);
    const team = manifest("PlatformTeam", `{ namespaces: [${NAMESPACE}] }`, { name: "taken" });
    expect(await apply(kubernetes(), team, { token })).toMatchObject({
      accepted: false,
      message: expect.stringContaining('cannot patch resource "platformteams"'),
    });
  });
});

function specOf(text: string): unknown {
  const [read] = readText(text).manifests;
  return read?.kind === "PlatformKey" ? read.spec : undefined;
}
