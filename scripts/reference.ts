import type { Schema } from "../domain/kinds/schema.ts";

type ReferredKind = {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly scope: "Namespaced" | "Cluster";
  readonly schema: Schema;
};

/** Fields of every status, which PlatformKey's page has. */
const LIKE_ITS_STATUS: ReadonlySet<string> = new Set(["observedGeneration", "controllerName"]);
const LIKE_STATUS = "Also `observedGeneration` and `controllerName`, [as in a PlatformKey](platform-key.md#status).";

const MESSAGES = "A refused declaration gets one of these messages, and what to write instead.";
const LIKE_MESSAGES = "Shared fields also have [those of a PlatformKey](platform-key.md#validation-messages).";

/** Fields that several kinds have alike: PlatformKey's page has their rows. */
const LIKE_A_KEYS: ReadonlySet<string> = new Set(["budgets", "sharedBudgets", "rateLimit"]);

/**
 * Returns the reference page of one kind in Markdown: every field of its spec and status, and every rule.
 *
 * @param key the schema of PlatformKey, whose page has the rows of fields that this kind has alike
 */
export function renderReference({ kind, plural, shortNames, scope, schema }: ReferredKind, key: Schema): string {
  const known = kind === "PlatformKey" ? undefined : key.properties?.spec;
  const all = collectRules(schema, "");
  const rules = all.filter(({ path, rule }) => !isKnownRule(path, rule, known));
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
      ...(half === "status" && known !== undefined ? [LIKE_STATUS, ""] : []),
      "| field | type | meaning |",
      "|---|---|---|",
      ...collectFields(schema.properties?.[half] ?? { type: "object" }, "", known),
    ]),
    ...(rules.length === 0
      ? []
      : [
          "",
          "## Validation messages",
          "",
          rules.length < all.length ? `${MESSAGES} ${LIKE_MESSAGES}` : MESSAGES,
          "",
          ...messages(rules),
        ]),
    "",
  ].join("\n");
}

/** Returns one table row for each field below a node, in the order of the schema. */
function collectFields(node: Schema, path: string, known: Schema | undefined): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, field]) => {
    const below = `${path}${name}${field.items ? "[]" : ""}.`;
    if (known !== undefined && LIKE_ITS_STATUS.has(below.slice(0, -1))) return [];
    if (name === "conditions") return [rowOf(node, path, name, "See [the reasons](reasons.md).")];
    if (isReference(field.items ?? field)) return [rowOf(node, path, name, partsOf(field.items ?? field))];
    const inner = withoutKnown(name, field.items ?? field, known);
    const count = (schema: Schema | undefined) => Object.keys(schema?.properties ?? {}).length;
    const like = count(inner) === count(field.items ?? field) ? "" : likeAKeys(count(inner) > 0);
    return [rowOf(node, path, name, like), ...collectFields(inner, below, known)];
  });
}

function likeAKeys(hasOthers: boolean): string {
  return `${hasOthers ? "Its other fields" : "Its fields"} are [those of a PlatformKey](platform-key.md#spec).`;
}

/** Leaves out the fields that PlatformKey has with the same words. */
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

/** True for a default that is an empty object or list: no reader asks for it. */
function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function typeOf(field: Schema): string {
  if (field.items)
    return `list of ${valuesOf(field.items) ?? typeOf(field.items)}${field.maxItems === undefined ? "" : `, at most ${field.maxItems}`}`;
  const { description = "" } = field;
  // Where the meaning has each value, the values stand there alone.
  if (field.enum?.every((value) => new RegExp(`\\b${value}\\b`).test(description))) return "enum";
  return valuesOf(field) ?? (field.format === "date-time" ? "time (RFC 3339)" : field.type);
}

function valuesOf(field: Schema): string | undefined {
  return field.enum?.map((value) => `\`${value}\``).join(", ");
}

type Rule = { readonly path: string; readonly rule: string };

function collectRules(node: Schema, path: string): Rule[] {
  return [
    ...(node["x-kubernetes-validations"] ?? []).map(({ message }) => ({ path: path || ".", rule: ruleOf(message) })),
    ...Object.entries(node.properties ?? {}).flatMap(([name, field]) =>
      collectRules(field, path === "" ? name : `${path}.${name}`),
    ),
    ...(node.items ? collectRules(node.items, `${path}[]`) : []),
  ];
}

/** True if PlatformKey's page has this message for a field that is as a key's. */
function isKnownRule(path: string, rule: string, known: Schema | undefined): boolean {
  const [, name] = /(\w+)(?:\[\])?$/.exec(path) ?? [];
  const like = known?.properties?.[name === "sharedBudgets" ? "budgets" : (name ?? "")];
  return like !== undefined && LIKE_A_KEYS.has(name ?? "") && collectRules(like, "").some((one) => one.rule === rule);
}

/** Returns one line for each field. */
function messages(rules: readonly Rule[]): string[] {
  return [...Map.groupBy(rules, ({ path }) => path)].map(
    ([path, some]) => `- \`${path}\`: ${some.map(({ rule }) => rule).join("; ")}`,
  );
}

/** True if an object names another object, by texts alone. */
function isReference(field: Schema): boolean {
  const names = Object.keys(field.properties ?? {});
  return names.includes("name") && names.every((name) => ["name", "namespace", "key", "dataKey"].includes(name));
}

/** Returns the fields of a reference, for its row. */
function partsOf({ properties = {}, required = [] }: Schema): string {
  const texts = Object.entries(properties).map(([name, field]) => {
    const fallback = field.default === undefined ? "" : ` Default \`${JSON.stringify(field.default)}\`.`;
    return `\`${name}\`${required.includes(name) ? " (required)" : ""}: ${field.description ?? ""}${fallback}`;
  });
  return texts.join(" ");
}

/** Returns what a rule asks, without the part of its message that says what to write instead. */
function ruleOf(message = ""): string {
  return message.split(/: (?=(?:write|add|keep|name|remove|give|leave) )/)[0] ?? "";
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}
