import type { Schema } from "../domain/kinds/schema.ts";

/** The reference page of one kind in Markdown: every field of its spec and status, and every rule with its message. */
export function renderReference(kind: {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  readonly schema: Schema;
}): string {
  const { schema } = kind;
  const rules = collectRules(schema, "");
  return [
    "<!-- Generated from crds/ by scripts/generate.ts. -->",
    `# ${kind.kind}`,
    "",
    schema.description ?? "",
    "",
    `\`keyplane.dev/v1alpha1\`, ${kind.scope === "Cluster" ? "cluster-scoped" : "namespaced"}; with kubectl: ` +
      `${[kind.plural, ...kind.shortNames].map((name) => `\`${name}\``).join(" or ")}.`,
    ...(["spec", "status"] as const).flatMap((half) => ["", `## ${half}`, "", ...renderFields(schema, half)]),
    ...(rules.length === 0 ? [] : ["", "## Rules", "", ...rules]),
    "",
  ].join("\n");
}

function renderFields(schema: Schema, half: "spec" | "status"): string[] {
  const part = schema.properties?.[half];
  return ["| field | type | meaning |", "|---|---|---|", ...(part === undefined ? [] : collectFields(part, ""))];
}

/** One table row for each field below a node, in the order of the schema. */
function collectFields(node: Schema, path: string): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
    const here = path + name;
    const inner = field.items ?? field;
    const required = node.required?.includes(name) ? " Required." : "";
    const fallback = field.default === undefined ? "" : ` Default \`${JSON.stringify(field.default)}\`.`;
    const row = `| \`${here}\` | ${typeOf(field)} | ${escapeCell((field.description ?? "") + required + fallback)} |`;
    return [row, ...collectFields(inner, `${here}${field.items ? "[]" : ""}.`)];
  });
}

function typeOf(field: Schema): string {
  if (field.items)
    return `list of ${typeOf(field.items)}${field.maxItems === undefined ? "" : `, at most ${field.maxItems}`}`;
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(", ");
  return field.format === "date-time" ? "time (RFC 3339)" : field.type;
}

function collectRules(node: Schema, path: string): string[] {
  return [
    ...(node["x-kubernetes-validations"] ?? []).map((rule) => `- \`${path || "."}\`: ${rule.message}`),
    ...Object.entries(node.properties ?? {}).flatMap(([name, field]) =>
      collectRules(field, path === "" ? name : `${path}.${name}`),
    ),
    ...(node.items ? collectRules(node.items, `${path}[]`) : []),
  ];
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}
