import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { describeOnKubernetes } from "../env/kubernetes/of-run.ts";
import { until } from "../env/until.ts";

const NAMESPACE = "ratcheting";
/** A definition of its own beside the one that other tests use. */
const GROUP = "before.example.com";
const OBJECTS = `/apis/${GROUP}/v1alpha1/namespaces/${NAMESPACE}/platformkeys`;
const DEFINITION = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/platformkeys.${GROUP}`;

/** The definition of a PlatformKey in another group, without any rule where it is that of before. */
function definition(withRules: boolean): string {
  const text = readFileSync(join(import.meta.dirname, "../../crds/platformkeys.yaml"), "utf8");
  const { spec, ...rest } = parse(text);
  const names = { ...spec.names, shortNames: [], categories: [] };
  const body = { ...rest, metadata: { name: `platformkeys.${GROUP}` }, spec: { ...spec, names, group: GROUP } };
  return JSON.stringify(body, (field, value) =>
    field === "x-kubernetes-validations" && !withRules ? undefined : value,
  );
}

describeOnKubernetes("A key that was stored before a rule came to be", (kubernetes) => {
  const contentType = "application/apply-patch+yaml";
  const apply = (path: string, body: string) =>
    kubernetes().request("PATCH", `${path}?fieldManager=test&force=true`, { body, contentType });
  const key = (name: string, spec: object) =>
    apply(
      `${OBJECTS}/${name}`,
      JSON.stringify({ apiVersion: `${GROUP}/v1alpha1`, kind: "PlatformKey", metadata: { name }, spec }),
    );

  test("c63, b118: goes on, can be changed elsewhere and mended, and is judged where it changes", async () => {
    await kubernetes().request("POST", "/api/v1/namespaces", { body: `{"metadata":{"name":"${NAMESPACE}"}}` });
    const old = { preset: "MCPReadOnly", expiresAt: "0000-06-01T00:00:00Z", rotation: { interval: "1h" } };
    await apply(DEFINITION, definition(false));
    const named = { preset: "MCPReadOnly", displayName: "Docs \u202etoof" };
    await until("it is stored", async () => (await key("old", old)).status < 300);
    expect((await key("named", named)).status).toBe(201);
    await apply(DEFINITION, definition(true));
    // Another one each time: one that came in before the rules do would go on, as the old one does.
    let tries = 0;
    await until("the rules hold", async () => (await key(`new-${tries++}`, old)).status === 422);

    expect((await key("old", { ...old, displayName: "Other" })).status).toBe(200);
    expect((await key("old", { ...old, expiresAt: "0000-06-02T00:00:00Z" })).status).toBe(422);
    expect((await key("old", { ...old, rotation: { interval: "2h" } })).status).toBe(422);
    const mended = { ...old, expiresAt: "2127-01-01T00:00:00Z", rotation: { interval: "6h" } };
    expect((await key("old", mended)).status).toBe(200);

    expect((await key("named", { ...named, state: "Revoked" })).status).toBe(200);
    const refused = await key("named", { ...named, displayName: "\u2066Docs", state: "Revoked" });
    expect([refused.status, JSON.stringify(refused)]).toEqual([422, expect.stringContaining("U+202A to U+202E")]);
    expect((await key("named", { ...named, displayName: "Docs", state: "Revoked" })).status).toBe(200);
    expect((await key("named", { ...named, state: "Revoked" })).status).toBe(422);
    await kubernetes().request("DELETE", DEFINITION);
  });
});
