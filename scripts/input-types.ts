import type { Property } from "./pulumi-resource.ts";
import { describe } from "./pulumi-schema.ts";

/** Writes the type of a value within a type: as it is, or as a value that Pulumi may know only later. */
export type Wrap = (type: string) => string;
export const PLAIN: Wrap = (type) => type;
export const INPUT: Wrap = (type) => `Input<${type}>`;

/** Returns an object's TypeScript type, with each field's description. */
export function renderAlias(name: string, object: Property, wrap: Wrap): string {
  return `${renderDoc(object, "")}export type ${name} = ${renderType(object, wrap, "")};\n`;
}

function renderType(property: Property, wrap: Wrap, indent: string): string {
  const { type, items, properties, required = [] } = property;
  if (items) {
    const item = wrap(renderType(items, wrap, indent));
    return /^[\w<>]+$/.test(item) ? `${item}[]` : `Array<${item}>`;
  }
  if (properties) {
    const inner = `${indent}  `;
    const fields = Object.entries(properties).map(([name, field]) => {
      const value = wrap(renderType(field, wrap, inner));
      const member = required.includes(name) ? `${name}: ${value}` : `${name}?: ${value} | undefined`;
      return `${renderDoc(field, inner)}${inner}${member};\n`;
    });
    return `{\n${fields.join("")}${indent}}`;
  }
  if (property.enum) return property.enum.map((value) => JSON.stringify(value)).join(" | ");
  return type === "integer" ? "number" : type;
}

function renderDoc(property: Property, indent: string): string {
  const secret = property.secret ? " A secret." : "";
  const text = describe(property) + secret;
  return text === "" ? "" : `${indent}/** ${text} */\n`;
}
