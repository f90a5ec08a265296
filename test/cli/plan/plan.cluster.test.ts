import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inNamespace } from "../../env/kubernetes/declarations.ts";
import { keyManifest, teamManifest } from "../../env/kubernetes/manifests.ts";
import { describeOnKubernetes } from "../../env/kubernetes/of-run.ts";
import { key, keyplane, team } from "../up.ts";

describeOnKubernetes("keyplane plan --kubeconfig", (kubernetes) => {
  const namespace = "cli-plan";
  let folder: string;

  /** As the controller would have left two keys. */
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "keyplane-plan-"));
    await kubernetes().kubectl(["create", "namespace", namespace]);
    const world = inNamespace(kubernetes(), namespace);
    await world.apply(keyManifest("agent") + keyManifest("other") + teamManifest("cli-plan", namespace));
    // Whatever is wrong there is none of these files' business.
    await kubernetes().kubectl(["create", "namespace", `${namespace}-unclaimed`]);
    await inNamespace(kubernetes(), `${namespace}-unclaimed`).apply(keyManifest("stranger"));
    const at = new Date(Date.now() - 86_400_000 * 3).toISOString();
    const condition = (type: string, reason: string) => {
      return { type, status: "True", reason, message: "", lastTransitionTime: at };
    };
    for (const name of ["agent", "other"]) {
      const status = {
        ...{ keyID: `key_${name}`, team: "cli-plan", effectiveScopes: ["memory:read"], lastUsedTime: at },
        versions: [{ number: 1, keyPrefix: "inf_12345678", state: "Active", mintedAt: at, activatedAt: at }],
        secretRef: { name, dataKey: "api-key" },
        conditions: [condition("Ready", "Ready"), condition("SecretDelivered", "Delivered")],
      };
      await world.change(`${world.path("platformkeys", name)}/status`, { status });
    }
  });
  afterAll(async () => {
    await kubernetes().kubectl(["delete", "platformteam", "cli-plan"]);
    await kubernetes().kubectl(["delete", "namespace", namespace, `${namespace}-unclaimed`, "--wait=false"]);
    rmSync(folder, { recursive: true });
  });

  async function plan(manifests: string) {
    writeFileSync(join(folder, "all.yaml"), manifests);
    const flags = ["--kubeconfig", kubernetes().kubeconfigPath, "--detailed-exitcode"];
    const { code, out } = await keyplane(["plan", "-f", folder, ...flags]);
    return { code, lines: out.trimEnd().split("\n") };
  }

  test("shows nothing of what is as declared, nor of what is not among the files: kubectl apply leaves it", async () => {
    const { code, lines } = await plan(team("cli-plan", namespace) + key("agent", "preset: MCPReadOnly", namespace));
    expect([code, lines]).toEqual([
      0,
      [expect.stringMatching(/^0 to create, 0 to change, 0 to delete, \d+ unchanged$/)],
    ]);
  });

  test("shows what changes, and when a key that ends was last used", async () => {
    const wider = key("agent", "preset: MCPReadWrite", namespace);
    const { code, lines } = await plan(wider + key("other", "preset: MCPReadOnly, state: Revoked", namespace));
    expect([code, lines.slice(0, -1)]).toEqual([
      2,
      [
        "~ update PlatformKey cli-plan/agent: scopes: memory:read -> memory:read, memory:write",
        expect.stringMatching(
          /^- revoke PlatformKey cli-plan\/other \(inf_12345678\.\.\.\), as declared: last used 3 days ago, at /,
        ),
      ],
    ]);
  });

  test("shows a new key whose Secret is there, and a gateway whose credential is not, by their metadata alone", async () => {
    const upstream = (secret: string) =>
      `{ name: a, dialect: openai, baseURL: "https://api.example.com", credentialRef: { name: ${secret} } }`;
    const gateway = (name: string, secret: string) =>
      `apiVersion: keyplane.dev/v1alpha1\nkind: ModelGateway\nmetadata: { name: ${name}, namespace: ${namespace} }\nspec: { upstreams: [${upstream(secret)}] }\n---\n`;
    await kubernetes().kubectl(["create", "secret", "generic", "taken", "--namespace", namespace]);
    const { lines } = await plan(
      key("taken", "preset: MCPReadOnly", namespace) + gateway("with", "taken") + gateway("without", "provider"),
    );
    expect(lines.filter((line) => line.startsWith("!"))).toEqual([
      expect.stringMatching(/^! ModelGateway cli-plan\/without will not be ready: CredentialNotFound/),
      expect.stringMatching(/^! PlatformKey cli-plan\/taken will not be ready: SecretConflict/),
    ]);
  });
});
