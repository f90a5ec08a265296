import { expect, test } from "vitest";
import { parse } from "yaml";
import { runValidate } from "../../cli/validate/validate.ts";
import { SCHEMAS } from "../../domain/kinds/generated/schemas.ts";
import { isClusterScoped, KINDS } from "../../domain/kinds/kinds.ts";
import type { Schema } from "../../domain/kinds/schema.ts";
import { read } from "../architecture/sources.ts";

/** Where a spec has something with a name, or names of objects as texts. */
function namesIn(schema: Schema, path: string): string[] {
  const { properties = {}, items } = schema;
  return [
    ...(properties.name !== undefined && path !== "spec" ? [path] : []),
    ...(items?.pattern?.startsWith("^[a-z0-9]([-a-z0-9]*") ? [path] : []),
    ...Object.entries(properties).flatMap(([name, field]) => namesIn(field, `${path}/${name}`)),
    ...(items === undefined ? [] : namesIn(items, path)),
  ];
}

test("examples/kustomize renames each reference that a kind has", () => {
  const { nameReference } = parse(read("examples/kustomize/keyplane-references.yaml"));
  const paths: { kind?: string; path: string }[] = nameReference.flatMap(
    ({ fieldSpecs }: { fieldSpecs: object }) => fieldSpecs,
  );
  const renamed = paths.filter(({ kind }) => (KINDS as readonly (string | undefined)[]).includes(kind));
  const found = KINDS.flatMap((kind) => {
    const spec = SCHEMAS[kind].properties?.spec;
    return spec === undefined ? [] : namesIn(spec, "spec").map((path) => `${kind} ${path}`);
  });
  // An upstream is called so.
  const expected = found.filter((each) => each !== "ModelGateway spec/upstreams");
  expect(expected).toEqual(
    expect.arrayContaining(["PlatformTeam spec/namespaces", "PlatformKeyPolicy spec/teamSelector/matchNames"]),
  );
  expect(expected.length).toBeGreaterThan(12);
  expect([...new Set(renamed.map(({ kind, path }) => `${kind} ${path.replace(/\/name$/, "")}`))].sort()).toEqual(
    expected.sort(),
  );
});

test("examples/kustomize renames the Secret of a key wherever a workload can name one", () => {
  const { nameReference } = parse(read("examples/kustomize/keyplane-references.yaml"));
  const specs = nameReference.find(({ kind }: { kind: string }) => kind === "PlatformKey").fieldSpecs;
  const containers = ["containers", "initContainers"].flatMap((each) => [
    `${each}/env/valueFrom/secretKeyRef/name`,
    `${each}/envFrom/secretRef/name`,
  ]);
  const volumes = ["secret/secretName", "projected/sources/secret/name", "csi/nodePublishSecretRef/name"];
  const pod = [...containers, ...volumes.map((each) => `volumes/${each}`), "imagePullSecrets/name"];
  expect(specs).toEqual(
    expect.arrayContaining([
      ...pod.map((path) => ({ kind: "Pod", path: `spec/${path}` })),
      ...pod.map((path) => ({ path: `spec/template/spec/${path}` })),
      ...pod.map((path) => ({ kind: "CronJob", path: `spec/jobTemplate/spec/template/spec/${path}` })),
    ]),
  );
});

test("examples/kustomize knows the kinds of the whole cluster", () => {
  const { paths } = parse(read("examples/kustomize/keyplane-scopes.yaml"));
  const named = Object.values<{ get: Record<string, { kind: string }> }>(paths).map(
    ({ get }) => get["x-kubernetes-group-version-kind"]?.kind,
  );
  expect(named.sort()).toEqual(
    KINDS.filter(isClusterScoped)
      .flatMap((kind) => [kind, kind])
      .sort(),
  );
});

test("examples/kustomize is no fault to keyplane validate, which passes over what is for kustomize", async () => {
  const lines: string[] = [];
  expect(await runValidate({ paths: ["examples/kustomize"] }, (line) => lines.push(line))).toBe(0);
  expect(lines.at(-1)).toContain("0 errors, 0 warnings, 4 of other kinds passed over");
});
