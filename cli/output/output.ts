import { writeYaml } from "../../domain/manifest/write-yaml.ts";

/** The forms that programs read. */
export type StructuredFormat = "json" | "yaml";

/** One of many values, as they come: a line of JSON, or a document of YAML. */
export function streamedText(value: object, format: StructuredFormat): string {
  return format === "json" ? JSON.stringify(value) : `---\n${outputText(value, format)}`;
}

/** A value as JSON or YAML, without a newline at its end. */
export function outputText(value: object, format: StructuredFormat): string {
  return format === "json" ? JSON.stringify(value, null, 2) : writeYaml(value).trimEnd();
}
