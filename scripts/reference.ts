import type { Schema } from "../domain/kinds/schema.ts";

type ReferredKind = {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  readonly schema: Schema;
};

const MESSAGES =
  "The API server and `keyplane validate` refuse a declaration with these messages, followed by what to write instead.";

/** Fields that several kinds have alike: PlatformKey's page has their rows. */
const LIKE_A_KEYS: ReadonlySet<string> = new Set(["budgets", "sharedBudgets", "rateLimit"]);

/**
 * The reference page of one kind in Markdown: every field of its spec and status, and every rule.
 *
 * @param key the schema of PlatformKey, whose page has the rows of fields that this kind has alike
 */
export function renderReference({ kind, plural, shortNames, scope, schema }: ReferredKind, key: Schema): string {
  const rules = collectRules(schema, "");
  const known = kind === "PlatformKey" ? undefined : key.properties?.spec;
  return [
    "<!-- Generated from crds/ by scripts/generate.ts. -->",
    `# ${kind}`,
    "",
    schema.description ?? "",
    "",
    `\`keyplane.dev/v1alpha1\`, ${scope === "Cluster" ? "cluster-scoped" : "namespaced"}; with kubectl: ` +
      `${[plural, ...shortNames].map((name) => `\`${name}\``).join(" or ")}.`,
    ...(["spec", "status"] as const).flatMap((half) => [
      "",
      `## ${half}`,
      "",
      "| field | type | meaning |",
      "|---|---|---|",
      ...collectFields(schema.properties?.[half] ?? { type: "object" }, "", known),
    ]),
    ...(rules.length === 0 ? [] : ["", "## Validation messages", "", MESSAGES, "", ...rules]),
    "",
  ].join("\n");
}

/** One table row for each field below a node, in the order of the schema. */
function collectFields(node: Schema, path: string, known: Schema | undefined): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
    const below = `${path}${name}${field.items ? "[]" : ""}.`;
    if (name === "conditions") return [rowOf(node, path, name, "See [the reasons](reasons.md).")];
    const inner = withoutKnown(name, field.items ?? field, known);
    const count = (schema: Schema | undefined) => Object.keys(schema?.properties ?? {}).length;
    const like = count(inner) === count(field.items ?? field) ? "" : likeAKeys(count(inner) > 0);
    return [rowOf(node, path, name, like), ...collectFields(inner, below, known)];
  });
}

function likeAKeys(hasOthers: boolean): string {
  return `${hasOthers ? "Its other fields" : "Its fields"} are [those of a PlatformKey](platform-key.md#spec).`;
}

/** Without the fields that PlatformKey has with the same words. */
function withoutKnown(name: string, inner: Schema, known: Schema | undefined): Schema {
  const like = known?.properties?.[name === "sharedBudgets" ? "budgets" : name];
  if (!LIKE_A_KEYS.has(name) || like === undefined) return inner;
  const others = (like.items ?? like).properties ?? {};
  const fields = Object.entries(inner.properties ?? {});
  const row = (node: Schema, field: string) => rowOf(node, "", field, "");
  const left = fields.filter(
    ([field]) => others[field] === undefined || row(inner, field) !== row(like.items ?? like, field),
  );
  return { ...inner, properties: Object.fromEntries(left) };
}

function rowOf(node: Schema, path: string, name: string, more: string): string {
  const field = node.properties?.[name] ?? { type: "object" };
  const required = node.required?.includes(name) ? "Required." : "";
  const fallback =
    field.default === undefined || isEmpty(field.default) ? "" : `Default \`${JSON.stringify(field.default)}\`.`;
  const meaning = [field.description ?? "", required, fallback, more].filter((text) => text !== "").join(" ");
  return `| \`${path}${name}\` | ${typeOf(field)} | ${escapeCell(meaning)} |`;
}

/** What a default says that no reader asks for. */
function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function typeOf(field: Schema): string {
  if (field.items)
    return `list of ${typeOf(field.items)}${field.maxItems === undefined ? "" : `, at most ${field.maxItems}`}`;
  const { description = "" } = field;
  // Where the meaning has each value, the values stand there alone.
  if (field.enum?.every((value) => new RegExp(`\\b${value}\\b`).test(description))) return "enum";
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(", ");
  return field.format === "date-time" ? "time (RFC 3339)" : field.type;
}

function collectRules(node: Schema, path: string): string[] {
  return [
    ...(node["x-kubernetes-validations"] ?? []).map((rule) => `- \`${path || "."}\`: ${ruleOf(rule.message)}`),
    ...Object.entries(node.properties ?? {}).flatMap(([name, field]) =>
      collectRules(field, path === "" ? name : `${path}.${name}`),
    ),
    ...(node.items ? collectRules(node.items, `${path}[]`) : []),
  ];
}

/** What a rule asks, without what its message has one write instead. */
function ruleOf(message = ""): string {
  return message.split(/: (?=(?:write|add|keep|name|remove|give|leave) )/)[0] ?? "";
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}
