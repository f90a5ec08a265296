import { isSchema, type JsonSchema } from "../openapi/format.ts";
import { type Content, type Html, html } from "../pages/html.ts";
import { table } from "../pages/table.ts";
import { inlineProse } from "./prose.ts";

const NAMED = "#/components/schemas/";

/** Renders a schema's fields as a table, nested fields included, or the type of its value if it has no fields. */
export function schemaTable(schema: JsonSchema, label: string): Html {
  const fields = fieldsOf(schema, "", true);
  if (fields.length === 0) return html`<p>${typeOf(schema)}<span class="line">${descriptionOf(schema)}</span></p>`;
  return table(label, ["Field", "Type", "Description"], fields, "reference");
}

/** Renders the type of value that a schema takes, in few words; a named schema by its name. */
export function typeOf(schema: JsonSchema): Content {
  const { $ref, anyOf, type, items, enum: values, const: constant } = schema;
  if (typeof $ref === "string") {
    const name = $ref.slice(NAMED.length);
    return html`<a href="#schema-${name}">${name}</a>`;
  }
  if (Array.isArray(anyOf)) return joined(anyOf.filter(isSchema).map(typeOf), " or ");
  if (constant !== undefined) return html`<code>${JSON.stringify(constant)}</code>`;
  if (Array.isArray(values))
    return joined(
      values.map((value) => html`<code>${String(value)}</code>`),
      ", ",
    );
  if (isSchema(items) && !Array.isArray(items)) return html`list of ${typeOf(items)}`;
  if (Array.isArray(type)) return type.map(String).join(" or ");
  return typeof type === "string" ? type : "any";
}

/** Returns a row for each field. @param isWhole true if the page already shows the schema's own name */
function fieldsOf(schema: JsonSchema, path: string, isWhole = false): Content[][] {
  const { properties, items, required, allOf } = schema;
  if (!isWhole && schema.$ref !== undefined) return [];
  if (Array.isArray(allOf)) return allOf.filter(isSchema).flatMap((part) => fieldsOf(part, path, true));
  if (isSchema(items)) return fieldsOf(items, `${path}[]`);
  if (!isSchema(properties)) return [];
  const needed: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).flatMap(([name, field]) => {
    if (!isSchema(field)) return [];
    const fieldPath = path === "" ? name : `${path}.${name}`;
    const row = [
      html`<code>${fieldPath}</code>${needed.includes(name) ? html` <span class="hint">required</span>` : ""}`,
      typeOf(field),
      descriptionOf(field),
    ];
    return [row, ...fieldsOf(field, fieldPath)];
  });
}

/** Renders the description of a value, and its bounds. */
export function descriptionOf(schema: JsonSchema): Html {
  const { description, minimum, maximum, minLength, maxLength, minItems, maxItems, format, default: left } = schema;
  const bounds = [
    range(minimum, maximum, ""),
    range(minLength, maxLength, " characters"),
    range(minItems, maxItems, " entries"),
    typeof format === "string" ? format : "",
    left === undefined || left === "" ? "" : `default: ${JSON.stringify(left)}`,
  ].filter((text) => text !== "");
  return html`${typeof description === "string" ? inlineProse(description) : ""}${
    bounds.length > 0 ? html` <span class="hint">${bounds.join("; ")}</span>` : ""
  }`;
}

function range(least: unknown, most: unknown, unit: string): string {
  if (typeof most === "number")
    return `${typeof least === "number" && least > 0 ? `${least} to` : "at most"} ${most}${unit}`;
  return typeof least === "number" && least > 0 ? `at least ${least}${unit}` : "";
}

function joined(parts: readonly Content[], between: string): Html {
  return html`${parts.map((part, i) => [i === 0 ? "" : between, part])}`;
}
