/** examples/kustomize, by the kustomize that kubectl has. */
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { runValidate } from "../../cli/validate/validate.ts";
import { CREDENTIAL_PLACEHOLDER } from "../../domain/manifest/set/set-warnings.ts";
import { manifest } from "../domain/manifest/read.ts";
import { findBinaries } from "../env/kubernetes/binaries.ts";

const run = promisify(execFile);
const EXAMPLE = join(import.meta.dirname, "../../examples/kustomize");
const SCOPES = "openapi: { path: keyplane-scopes.yaml }";

let folder: string;
let kubectl: string;
beforeAll(async () => {
  ({ kubectl } = await findBinaries());
  folder = await mkdtemp(join(tmpdir(), "keyplane-kustomize-"));
  for (const name of ["keyplane-references.yaml", "keyplane-scopes.yaml"])
    await copyFile(join(EXAMPLE, name), join(folder, name));
});
afterAll(() => rm(folder, { recursive: true }));

const build = async (path: string) => (await run(kubectl, ["kustomize", path])).stdout;

/** What becomes of objects, each by its kind. */
async function built(objects: readonly string[], kustomization: string) {
  await writeFile(join(folder, "objects.yaml"), objects.join("---\n"));
  await writeFile(
    join(folder, "kustomization.yaml"),
    `resources: [objects.yaml]\nconfigurations: [keyplane-references.yaml]\n${kustomization}\n`,
  );
  const all = parseAllDocuments(await build(folder)).map((one) => one.toJS());
  return (kind: string) => all.find((one) => one.kind === kind);
}

it("examples/kustomize builds manifests in which each refers to what is there", async () => {
  const text = await build(EXAMPLE);
  const lines: string[] = [];
  const withOwn = text.replace(btoa(CREDENTIAL_PLACEHOLDER), btoa("sk-1"));
  expect(
    await runValidate({ paths: ["-"], stdin: Buffer.from(withOwn), failOn: "warnings" }, (line) => lines.push(line)),
  ).toBe(0);
  expect(lines.join()).not.toContain("is not among these manifests");
  expect(text).toMatch(/credentialRef:\n\s+name: eu-openai-provider-\w{10}\n/);
});

const at = (name: string) => ({ name, namespace: "dev" });
const TEAM = manifest(
  "PlatformTeam",
  `{ namespaces: [dev], members: [{ role: member, serviceAccount: { namespace: dev, name: deployer }, libraryRefs: [{ namespace: dev, name: handbook }] }], mcpAgentPolicy: { defaultLibraryRef: { namespace: dev, name: handbook } }, webhooks: [{ url: "https://x.example", events: [key.revoked], secretRef: { namespace: dev, name: hooks } }] }`,
  { name: "research" },
);
const POLICY = manifest(
  "PlatformKeyPolicy",
  "{ teamSelector: { matchNames: [research, elsewhere] }, allowedGateways: [{ namespace: dev, name: main }] }",
  { name: "p" },
);
const GATEWAY = manifest(
  "ModelGateway",
  "{ upstreams: [{ name: u, dialect: openai, baseURL: 'https://x.example', credentialRef: { name: provider } }] }",
  at("main"),
);
const LIBRARY = manifest(
  "MemoryLibrary",
  "{ embedding: { gatewayRef: { name: main }, model: m }, extraction: { gatewayRef: { name: main, namespace: dev }, model: m } }",
  at("handbook"),
);
const KEY = manifest(
  "PlatformKey",
  "{ preset: MCPReadOnly, gatewayRef: { name: main }, mcpDefaultLibraryRef: { name: handbook, namespace: dev }, libraryAccess: { mode: Restricted, libraryRefs: [{ name: handbook }, { name: elsewhere }] }, restartTargets: [{ kind: Deployment, name: web }, { kind: StatefulSet, name: db }], source: { type: ImportSecret, secretRef: { name: provider } } }",
  at("reader"),
).replace("v1alpha1", "v1beta1");
const CORE = `apiVersion: v1
kind: ServiceAccount
metadata: { name: deployer, namespace: dev }
---
apiVersion: v1
kind: Namespace
metadata: { name: dev }
---
apiVersion: apps/v1
kind: StatefulSet
metadata: { name: db, namespace: dev }
spec: { template: { spec: { containers: [{ name: a, envFrom: [{ secretRef: { name: reader } }] }] } } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: dev }
spec: { template: { spec: { containers: [{ name: a, env: [{ name: K, valueFrom: { secretKeyRef: { name: reader, key: api-key } } }] }], volumes: [{ name: v, secret: { secretName: other } }, { name: c, csi: { driver: d, nodePublishSecretRef: { name: reader } } }], imagePullSecrets: [{ name: reader }] } } }
---
apiVersion: v1
kind: Pod
metadata: { name: bare, namespace: dev }
spec: { containers: [{ name: a, envFrom: [{ secretRef: { name: reader } }], env: [{ name: K, valueFrom: { secretKeyRef: { name: reader, key: api-key } } }] }], volumes: [{ name: v, secret: { secretName: reader } }], imagePullSecrets: [{ name: reader }] }
`;
const SECRETS =
  "secretGenerator: [{ name: provider, namespace: dev, literals: [a=b] }, { name: hooks, namespace: dev, literals: [a=b] }]";

it.each([
  ["a prefix, a suffix and generators", 'namePrefix: eu-\nnameSuffix: "-b"', "eu-", "-b", "dev"],
  ["a namespace, too", "namePrefix: x-\nnamespace: prod", "x-", "", "prod"],
])("examples/kustomize renames each reference: %s", async (_what, kustomization, before, behind, namespace) => {
  const kind = await built([TEAM, POLICY, GATEWAY, LIBRARY, KEY, CORE], `${kustomization}\n${SECRETS}\n${SCOPES}`);
  const named = (name: string) => `${before}${name}${behind}`;
  const ref = (name: string) => ({ name: named(name), namespace });
  const generated = expect.stringMatching(new RegExp(`^${named("provider")}-\\w{10}$`));
  const hooks = { name: expect.stringMatching(new RegExp(`^${named("hooks")}-\\w{10}$`)), namespace };
  expect(kind("PlatformTeam")).toMatchObject({
    metadata: { name: named("research") },
    spec: {
      namespaces: [namespace],
      members: [{ serviceAccount: ref("deployer"), libraryRefs: [ref("handbook")] }],
      mcpAgentPolicy: { defaultLibraryRef: ref("handbook") },
      webhooks: [{ secretRef: hooks }],
    },
  });
  expect(kind("PlatformTeam").metadata).not.toHaveProperty("namespace");
  expect(kind("PlatformKeyPolicy").spec).toMatchObject({
    teamSelector: { matchNames: [named("research"), "elsewhere"] },
    allowedGateways: [ref("main")],
  });
  expect(kind("ModelGateway").spec.upstreams[0].credentialRef).toEqual({ name: generated });
  expect(kind("MemoryLibrary").spec).toMatchObject({
    embedding: { gatewayRef: ref("main") },
    extraction: { gatewayRef: ref("main") },
  });
  expect(kind("PlatformKey").spec).toMatchObject({
    gatewayRef: ref("main"),
    mcpDefaultLibraryRef: ref("handbook"),
    libraryAccess: { libraryRefs: [ref("handbook"), { name: "elsewhere" }] },
    restartTargets: [{ name: named("web") }, { name: named("db") }],
    source: { secretRef: { name: generated } },
  });
  const { containers, volumes, imagePullSecrets } = kind("Deployment").spec.template.spec;
  expect(containers[0].env[0].valueFrom.secretKeyRef.name).toBe(named("reader"));
  expect([volumes[0].secret.secretName, volumes[1].csi.nodePublishSecretRef.name]).toEqual(["other", named("reader")]);
  expect(imagePullSecrets).toEqual([{ name: named("reader") }]);
  expect(kind("Pod").spec).toMatchObject({
    containers: [
      {
        envFrom: [{ secretRef: { name: named("reader") } }],
        env: [{ valueFrom: { secretKeyRef: { name: named("reader") } } }],
      },
    ],
    volumes: [{ secret: { secretName: named("reader") } }],
    imagePullSecrets: [{ name: named("reader") }],
  });
  expect(kind("StatefulSet").spec.template.spec.containers[0].envFrom[0].secretRef.name).toBe(named("reader"));
});
