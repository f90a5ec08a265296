import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inNamespace } from "../../env/kubernetes/declarations.ts";
import { keyManifest, teamManifest } from "../../env/kubernetes/manifests.ts";
import { describeOnKubernetes } from "../../env/kubernetes/of-run.ts";
import { keyplane } from "../up.ts";

describeOnKubernetes("keyplane get", (kubernetes) => {
  const namespace = "cli-get";
  const from = () => ["--kubeconfig", kubernetes().kubeconfigPath];
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "keyplane-get-"));
    await kubernetes().kubectl(["create", "namespace", namespace]);
    const world = inNamespace(kubernetes(), namespace);
    await world.apply(keyManifest("agent") + teamManifest("cli-get", namespace));
    const conditions = [
      { type: "Ready", status: "True", reason: "Ready", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" },
    ];
    const status = {
      ...{ keyID: "key_1", keyPrefix: "inf_12345678", team: "cli-get", effectiveScopes: ["memory:read"], conditions },
      ...{ secretRef: { name: "agent" }, lastUsedTime: new Date(Date.now() - 86_400_000 * 3).toISOString() },
    };
    await world.change(`${world.path("platformkeys", "agent")}/status`, { status });
  });
  afterAll(async () => {
    await kubernetes().kubectl(["delete", "platformteam", "cli-get"]);
    await kubernetes().kubectl(["delete", "namespace", namespace, "--wait=false"]);
    await rm(folder, { recursive: true });
  });

  test("shows what the cluster holds, in the columns of every source", async () => {
    const { code, out } = await keyplane(["get", "keys", "-n", namespace, ...from()]);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(
        /^NAMESPACE +NAME +READY +REASON +PREFIX +TEAM +SCOPES +SECRET +EXPIRES +LAST USED +AGE\ncli-get +agent +True +Ready +inf_12345678 +cli-get +memory:read +agent +never +3d +\d+s\n$/,
      ),
    ]);
    expect((await keyplane(["get", "team", "cli-get", ...from()])).out).toMatch(
      /^cli-get +Unknown +Pending +cli-get +0 +\d+s$/m,
    );
  });

  test("prints as JSON what kubectl prints", async () => {
    const { out } = await keyplane(["get", "key", `${namespace}/agent`, "-o", "json", ...from()]);
    const printed = await kubernetes().kubectl([
      "get",
      "platformkeys.v1alpha1.keyplane.dev",
      "agent",
      "-n",
      namespace,
      "-o",
      "json",
    ]);
    expect(JSON.parse(out)).toEqual(JSON.parse(printed));
  });

  test("says what is refused, and where nobody answers", async () => {
    const nobody = join(folder, "nobody");
    const token = await kubernetes().createToken(namespace, "default");
    writeFileSync(nobody, await kubernetes().kubeconfig(token));
    const refused = await keyplane(["get", "keys", "--kubeconfig", nobody]);
    expect([refused.code, refused.err]).toEqual([
      1,
      expect.stringMatching(/^keyplane: while listing PlatformKeys: platformkeys.keyplane.dev is forbidden: .*\n$/),
    ]);
    const away = join(folder, "away");
    writeFileSync(away, (await kubernetes().kubeconfig(token)).replace(kubernetes().url, "https://127.0.0.1:1"));
    const unreachable = await keyplane(["get", "keys", "--kubeconfig", away]);
    expect([unreachable.code, unreachable.err]).toEqual([
      1,
      expect.stringMatching(/^keyplane: .*see that the cluster's API server runs at https:\/\/127\.0\.0\.1:1\n$/),
    ]);
    const other = await keyplane(["get", "keys", "--context", "prod", ...from()]);
    expect([other.code, other.err]).toEqual([2, expect.stringContaining("has no context prod: it has test")]);
  });
});
