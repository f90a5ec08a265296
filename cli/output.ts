import { writeYaml } from "../domain/manifest/write-yaml.ts";

/** The forms that programs read. */
export type StructuredFormat = "json" | "yaml";

/** A value as JSON or YAML, without a newline at its end. */
export function outputText(value: object, format: StructuredFormat): string {
  return format === "json" ? JSON.stringify(value, null, 2) : writeYaml(value).trimEnd();
}
