/**
 * Writes what comes from `crds/`: the TypeScript types and schemas in `domain/kinds/generated/`, the reference of all
 * fields in `docs/reference/`, the JSON Schema of manifests for editors, the Helm chart's copy, and under `infra/pulumi/`
 * the schema of the Pulumi package and the types of what Pulumi programs write; the fields of a key in the Terraform
 * provider; and the references of commands, metrics, reasons and codes, from their definitions, and of the key's rules and
 * of common mistakes, from the tables that test them; the rights that `keyplane doctor` asks for, from `infra/rbac/`; and
 * the chart's Grafana dashboard, from a table of its panels. With `--check` it writes nothing and exits with 1 when a file
 * is not as it would be.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { compile } from "json-schema-to-typescript";
import { parse } from "yaml";
import { KINDS, type Kind } from "../domain/kinds/kinds.ts";
import type { Schema } from "../domain/kinds/schema.ts";
import { manifestSchema } from "../domain/manifest/validation/json-schema.ts";
import packageJson from "../package.json" with { type: "json" };
import { renderCommands } from "./commands-reference.ts";
import { renderControllerRights } from "./controller-rights.ts";
import { renderDashboard } from "./dashboard.ts";
import { INPUT, PLAIN, renderAlias } from "./input-types.ts";
import { renderKeyRules } from "./key-rules-reference.ts";
import { renderMetrics } from "./metrics-reference.ts";
import { renderMistakes } from "./mistakes-reference.ts";
import { pulumiPackage } from "./pulumi-package.ts";
import { pluginSource, renderPulumiSchema } from "./pulumi-schema.ts";
import { renderReasons } from "./reasons-reference.ts";
import { renderReference } from "./reference.ts";
import { renderTerraformSpec } from "./terraform-spec.ts";

const ROOT = join(import.meta.dirname, "..");
const GENERATED = "domain/kinds/generated/";
const BANNER =
  "// Generated from crds/ by scripts/generate.ts. Change the schema there and run `node scripts/generate.ts`.\n";
/** First line of a generated Go file, in the form that Go's tools know. */
const BANNER_GO = "// Code generated from crds/ by scripts/generate.ts. DO NOT EDIT.\n\n";

/** CustomResourceDefinition, with the fields that are read here. */
type Definition = {
  readonly spec: {
    readonly scope: "Namespaced" | "Cluster";
    readonly names: { readonly kind: Kind; readonly plural: string; readonly shortNames: readonly string[] };
    readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: Schema } }];
  };
};

const sources = readdirSync(join(ROOT, "crds"))
  .filter((file) => file.endsWith(".yaml"))
  .sort()
  .map((file) => [file, readFileSync(join(ROOT, "crds", file), "utf8")] as const);
const definitions = sources.map(([, text]) => parse(text) as Definition);

// The kinds of `crds/` are the kinds there are: a test holds it.
const crds = Object.fromEntries(definitions.map(({ spec }) => [spec.names.kind, schemaOf(spec)])) as Record<
  Kind,
  Schema
>;

const files = new Map<string, string>();
// A chart reads only what lies in its own folder.
for (const [file, text] of sources) files.set(`infra/chart/files/crds/${file}`, text);
for (const { spec } of definitions) {
  const { kind, plural, shortNames } = spec.names;
  const schema = schemaOf(spec);
  const name = kind.replace(/(?<=[a-z])[A-Z]/g, "-$&").toLowerCase();
  files.set(
    `${GENERATED}${name}.ts`,
    BANNER + (await renderType(schema, kind, "spec")) + (await renderType(schema, kind, "status")),
  );
  files.set(
    `docs/reference/${name}.md`,
    renderReference({ kind, plural, shortNames, scope: spec.scope, schema }, crds.PlatformKey),
  );
}
files.set(
  `${GENERATED}schemas.ts`,
  `${BANNER}import type { Kind } from "../kinds.ts";
import type { Schema } from "../schema.ts";

/** The schema of each kind, as the API server has it. */
export const SCHEMAS: Readonly<Record<Kind, Schema>> = ${JSON.stringify(crds, null, 2)};
`,
);

files.set("schemas/manifest.json", `${JSON.stringify(manifestSchema(crds), null, 2)}\n`);
files.set("cli/doctor/generated/rights.ts", renderControllerRights(rbac("controller.yaml"), rbac("namespace.yaml")));
files.set("infra/chart/files/dashboard.json", renderDashboard());
files.set("docs/reference/metrics.md", renderMetrics());
files.set("docs/reference/reasons.md", renderReasons());
files.set("docs/reference/commands.md", await renderCommands());
files.set("docs/reference/key-rules.md", renderKeyRules());
files.set("docs/reference/mistakes.md", renderMistakes());

const pulumi = pulumiPackage(crds);
const IMPORT_INPUT = 'import type { Input } from "@pulumi/pulumi";\n';
const { version, description, license } = packageJson;
const about = { version, description, license, ...pluginSource(packageJson) };
files.set("infra/pulumi/schema.json", renderPulumiSchema(pulumi, about));
files.set(
  "infra/pulumi/generated/types.ts",
  [
    BANNER + IMPORT_INPUT,
    renderAlias("ProviderArgs", { type: "object", properties: pulumi.config }, INPUT),
    ...Object.entries(pulumi.resources).flatMap(([kind, { inputs, outputs }]) => [
      renderAlias(`${kind}Args`, inputs, INPUT),
      renderAlias(`${kind}State`, outputs, PLAIN),
    ]),
    ...Object.entries(pulumi.functions).flatMap(([name, { inputs, outputs }]) => [
      renderAlias(`${capitalise(name)}Args`, inputs, PLAIN),
      renderAlias(`${capitalise(name)}Result`, outputs, PLAIN),
    ]),
  ].join("\n"),
);
files.set(
  "infra/pulumi/kubernetes/generated/specs.ts",
  [
    BANNER + IMPORT_INPUT,
    ...KINDS.map((kind) => renderAlias(`${kind}SpecArgs`, halfOf(crds[kind], kind, "spec"), INPUT)),
  ].join("\n"),
);
files.set(
  "infra/terraform/internal/provider/spec_fields.go",
  BANNER_GO + renderTerraformSpec(pulumi.resources.PlatformKey.inputs),
);

const stale = [...files].filter(([path, text]) => {
  const full = join(ROOT, path);
  return !existsSync(full) || readFileSync(full, "utf8") !== text;
});
if (process.argv.includes("--check")) {
  for (const [path] of stale) console.error(`${path} is stale: run \`node scripts/generate.ts\``);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [path, text] of stale) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true });
    writeFileSync(join(ROOT, path), text);
    console.log(`wrote ${relative(process.cwd(), join(ROOT, path))}`);
  }
}

function rbac(file: string): string {
  return readFileSync(join(ROOT, "infra/rbac", file), "utf8");
}

function schemaOf(spec: Definition["spec"]): Schema {
  return spec.versions[0].schema.openAPIV3Schema;
}

function halfOf(schema: Schema, kind: string, half: "spec" | "status"): Schema {
  const part = schema.properties?.[half];
  if (part === undefined) throw new Error(`the schema of ${kind} has no ${half}`);
  return part;
}

/** Returns the type of one half of an object. A field with a default is there after validation: it is not optional. */
async function renderType(schema: Schema, kind: string, half: "spec" | "status"): Promise<string> {
  const part = halfOf(schema, kind, half);
  const name = kind + capitalise(half);
  const options = { bannerComment: "", additionalProperties: false, ignoreMinAndMaxItems: true };
  const text = await compile({ ...typeSchema(part), title: name }, name, options);
  // An alias and not an interface, so that it is assignable to a record.
  return `\n${text.replace(`export interface ${name} {`, `export type ${name} = {`).trimEnd()};\n`;
}

/** Returns a schema as a JSON schema for types alone: without bounds and rules, which a type cannot say. */
function typeSchema(schema: Schema): Record<string, unknown> {
  const { type, description, items, properties, required = [] } = schema;
  const fields = Object.entries(properties ?? {});
  return {
    type,
    ...(description !== undefined && { description }),
    ...(schema.enum && { enum: schema.enum }),
    ...(items && { items: typeSchema(items) }),
    ...(properties && {
      properties: Object.fromEntries(fields.map(([name, field]) => [name, typeSchema(field)])),
      required: [...required, ...fields.filter(([, field]) => field.default !== undefined).map(([name]) => name)],
    }),
  };
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
