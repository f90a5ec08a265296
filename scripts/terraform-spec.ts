/** Part of the Terraform provider that follows from `crds/`: a key's spec in Go, and as arguments. */
import { API_MANAGED_KEY_FIELDS } from "../domain/key/declaration/api-managed-key.ts";
import { need, type Property, propertiesOf } from "./pulumi-resource.ts";

/**
 * Returns the text of `spec_fields.go`.
 *
 * @param inputs what a key takes, as the Pulumi package has it
 */
export function renderTerraformSpec(inputs: Property): string {
  const all = propertiesOf(inputs);
  const spec = Object.fromEntries(API_MANAGED_KEY_FIELDS.map((name) => [name, need(all[name], name)]));
  const structs = new Map<string, string>();
  const object = { type: "object", properties: spec } as const;
  addStruct(structs, "spec", object);
  const sets = Object.entries(spec).filter(([, field]) => isSet(field));
  return `package provider

import (
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// spec is what a key is to be: in a configuration, and in the API.
${[...structs.values()].reverse().join("\n")}
// sortSets puts lists whose order means nothing in one order.
func (given *spec) sortSets() {
${sets.map(([name]) => `	given.${goName(name)} = sorted(given.${goName(name)})\n`).join("")}}

// specAttributes describes a spec's fields.
func specAttributes() map[string]schema.Attribute {
	return ${attributes(object, 1)}
}
`;
}

/** Adds a struct behind the structs of its members, so that all of them read from the last. */
function addStruct(structs: Map<string, string>, name: string, { properties = {}, required = [] }: Property): void {
  const rows = Object.entries(properties).map(([member, field]) => {
    const inner = innerOf(member, field);
    if (inner !== undefined) addStruct(structs, inner.name, inner.object);
    const isNeeded = required.includes(member);
    const json = isNeeded ? member : `${member},omitzero`;
    return [goName(member), goType(member, field, isNeeded), `\`tfsdk:"${snake(member)}" json:"${json}"\``];
  });
  const [names, types] = [0, 1].map((i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const lines = rows.map(([a = "", b = "", c]) => `	${a.padEnd(names ?? 0)} ${b.padEnd(types ?? 0)} ${c}\n`);
  structs.set(name, `type ${name} struct {\n${lines.join("")}}\n`);
}

/** Returns the object in a field, and the name of its type; undefined for a text or a number, or a list of them. */
function innerOf(member: string, field: Property): { readonly name: string; readonly object: Property } | undefined {
  const object = field.type === "array" ? field.items : field;
  if (object?.type !== "object") return undefined;
  const isReference =
    Object.keys(object.properties ?? {})
      .toSorted()
      .join() === "name,namespace";
  return { name: isReference ? "reference" : field.type === "array" ? member.replace(/s$/, "") : member, object };
}

function goType(member: string, field: Property, isNeeded: boolean): string {
  const inner = innerOf(member, field);
  if (field.type === "array") return `[]${inner?.name ?? "string"}`;
  if (inner !== undefined) return `*${inner.name}`;
  return `${isNeeded ? "" : "*"}${field.type === "integer" ? "int64" : "string"}`;
}

function isSet(field: Property): boolean {
  return field["x-kubernetes-list-type"] === "set";
}

function attributes({ properties = {}, required = [] }: Property, depth: number): string {
  const rows = Object.entries(properties).map(
    ([name, field]) => `"${snake(name)}": ${attribute(field, required.includes(name), depth + 1)},`,
  );
  return `map[string]schema.Attribute${block(rows, depth)}`;
}

function attribute(field: Property, isNeeded: boolean, depth: number): string {
  const [type, ...inner] = attributeType(field, depth + 1);
  const rows = [
    `${isNeeded ? "Required" : "Optional"}:            true,`,
    `MarkdownDescription: ${JSON.stringify(inArguments(field.description ?? ""))},`,
  ];
  return `schema.${type}${block([...rows, ...inner], depth)}`;
}

/** Returns an attribute's type, and its further arguments. Go's formatter aligns no value of several lines. */
function attributeType(field: Property, depth: number): readonly string[] {
  if (field.type !== "array") {
    if (field.type === "object") return ["SingleNestedAttribute", `Attributes: ${attributes(field, depth)},`];
    return [field.type === "integer" ? "Int64Attribute" : "StringAttribute"];
  }
  const { items } = field;
  if (items?.type !== "object") return ["SetAttribute", "ElementType:         types.StringType,"];
  const nested = `schema.NestedAttributeObject{Attributes: ${attributes(items, depth)}}`;
  return ["ListNestedAttribute", `NestedObject: ${nested},`];
}

function block(rows: readonly string[], depth: number): string {
  const tabs = "\t".repeat(depth);
  return `{\n${rows.map((row) => `${tabs}\t${row}\n`).join("")}${tabs}}`;
}

/** Returns a description with the fields named as Terraform names them. */
function inArguments(description: string): string {
  return description.replace(/\b[a-z]+(?:[A-Z][a-z]*)+s?\b/g, (name) => `\`${snake(name)}\``);
}

/** Returns a name as Go exports it: `MCPDefaultLibraryRef`. */
function goName(name: string): string {
  return (name.charAt(0).toUpperCase() + name.slice(1)).replace(/^Mcp/, "MCP");
}

/** Returns a name as Terraform writes it: `mcp_default_library_ref`. */
function snake(name: string): string {
  return name.replace(/(?<=[a-z])[A-Z]/g, "_$&").toLowerCase();
}
