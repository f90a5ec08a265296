import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { SCHEMAS } from "../../domain/kinds/generated/schemas.ts";
import { manifest } from "../domain/manifest/read.ts";
import { describeOnKubernetes } from "../env/kubernetes/of-run.ts";
import { apply, createNamespaces, urlOf } from "./apply.ts";

const NAMESPACE = "definitions";
const KEY = manifest(
  "PlatformKey",
  "{ scopes: [memory:read, gateway:embed], rotation: { interval: 720h }, secret: { name: reader-key } }",
  { name: "docs-agent", namespace: NAMESPACE },
);
const OTHERS = [
  manifest("PlatformTeam", "{ namespaces: [definitions] }", { name: "definitions" }),
  manifest("MemoryLibrary", "{ displayName: Handbook }", { name: "handbook", namespace: NAMESPACE }),
  manifest(
    "ModelGateway",
    "{ upstreams: [{ name: u, dialect: openai, baseURL: 'https://x.example', credentialRef: { name: s } }] }",
    { name: "main", namespace: NAMESPACE },
  ),
];
const STATUS = {
  keyID: "key_abcdefghij",
  keyPrefix: "inf_abcd1234",
  team: "definitions",
  effectiveScopes: ["memory:read", "gateway:embed"],
  secretRef: { name: "reader-key", dataKey: "api-key" },
  expiresAt: "2127-02-01T00:00:00Z",
  nextRotationTime: "2126-12-20T00:00:00Z",
  lastUsedTime: "2026-01-01T00:00:00Z",
  conditions: [
    {
      type: "Ready",
      status: "True",
      reason: "Ready",
      message: "Everything is as declared.",
      lastTransitionTime: "2026-01-01T00:00:00Z",
      observedGeneration: 1,
    },
  ],
};

describeOnKubernetes("The definitions", (kubernetes) => {
  async function kubectl(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await kubernetes().runKubectl([...args, "--namespace", NAMESPACE]);
    expect(stderr).toBe("");
    expect(code).toBe(0);
    return stdout;
  }

  beforeAll(async () => {
    await createNamespaces(kubernetes(), [NAMESPACE]);
    for (const text of [KEY, ...OTHERS]) expect(await apply(kubernetes(), text)).toMatchObject({ accepted: true });
    const body = JSON.stringify({ status: STATUS });
    const options = { body, contentType: "application/merge-patch+json" };
    expect(await kubernetes().request("PATCH", `${urlOf(KEY)}/status`, options)).toMatchObject({ status: 200 });
  });

  test("are taken by the API server without a complaint, and taken again as they are", async () => {
    const applied = await kubectl("apply", "--server-side", "-f", join(import.meta.dirname, "../../crds"));
    expect(applied.match(/serverside-applied/g)).toHaveLength(Object.keys(SCHEMAS).length);
    const { items } = JSON.parse(await kubectl("get", "crds", "-o", "json"));
    for (const { metadata, status } of items) {
      const conditions = status.conditions.map(({ type, status }: Record<string, string>) => `${type}=${status}`);
      expect([metadata.name, ...conditions]).toEqual([metadata.name, "NamesAccepted=True", "Established=True"]);
    }
  });

  test("show a key in one line: its state, prefix, team and end", async () => {
    const [head, line] = (await kubectl("get", "pkey")).split("\n");
    expect(words(head)).toEqual(["NAME", "READY", "REASON", "PREFIX", "TEAM", "EXPIRES", "AGE"]);
    const shown = ["docs-agent", "True", "Ready", "inf_abcd1234", "definitions", "2127-02-01T00:00:00Z"];
    expect(words(line).slice(0, -1)).toEqual(shown);
  });

  test("show more of it with -o wide: scopes, Secret, next rotation, last use", async () => {
    const [head = "", line = ""] = (await kubectl("get", "pkey", "-o", "wide")).split("\n");
    expect(head).toMatch(/SCOPES +SECRET +ROTATES +LAST USED/);
    expect(line).toMatch(/\["memory:read","gateway:embed"\] +reader-key +2126-12-20T00:00:00Z +\d+d/);
  });

  test("go by short names, and all together by `keyplane`", async () => {
    const all = await kubectl("get", "keyplane", "-o", "name");
    const names = await Promise.all(
      ["mlib/handbook", "mgw/main", "pkey/docs-agent", "pteam/definitions"].map((name) =>
        kubectl("get", name, "-o", "name"),
      ),
    );
    for (const name of names) expect(all).toContain(name);
  });

  test("explain each field", async () => {
    const text = await kubectl("explain", "pkey.spec.rotation.overlap");
    expect(text).toMatch(/DESCRIPTION:\n +How long the old version works beside the new one, whatever caused/);
    expect(text).toMatch(/quiet\t<string>\n +With Adoption: how long the old version must have been unused/);
    expect(await kubectl("explain", "pkey.spec.secret.onLost")).toContain("ENUM:\n    Rotate\n    Report\n");
  });

  test("describe a key with what is declared, what is, and why", async () => {
    const text = await kubectl("describe", "pkey", "docs-agent");
    for (const line of [/Key Prefix: +inf_abcd1234/, /Message: +Everything is as declared\./, /Interval: +720h/]) {
      expect(text).toMatch(line);
    }
  });

  const misspelt = KEY.replace("docs-agent", "misspelt").replace("secret:", "sekret:");
  test.each([
    ["kubectl apply", ["apply"]],
    ["kubectl apply --server-side", ["apply", "--server-side"]],
    ["kubectl create", ["create"]],
  ])("let %s refuse a misspelt field by its name", async (_, command) => {
    const { code, stderr } = await kubernetes().runKubectl([...command, "--filename", "-"], misspelt);
    expect(code).toBe(1);
    expect(stderr).toContain("spec.sekret");
  });

  test("warn a client that does not ask for strict validation of a misspelt field, and drop it", async () => {
    const body = JSON.stringify({
      apiVersion: "keyplane.dev/v1alpha1",
      kind: "PlatformKey",
      metadata: { name: "misspelt" },
      spec: { preset: "MCPReadOnly", sekret: {} },
    });
    const path = `/apis/keyplane.dev/v1alpha1/namespaces/${NAMESPACE}/platformkeys?dryRun=All`;
    const answer = await kubernetes().request("POST", path, { body });
    expect(answer).toMatchObject({ status: 201, warnings: ['unknown field "spec.sekret"'] });
    expect(answer.body).toMatchObject({ spec: expect.not.objectContaining({ sekret: {} }) });
  });
});

function words(line = ""): string[] {
  return line.trim().split(/ {2,}/);
}
