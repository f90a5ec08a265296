import { Option } from "commander";
import { writeYaml } from "../../domain/manifest/document/write-yaml.ts";

/** The forms that programs read. */
export type StructuredFormat = "json" | "yaml";

/** The flag by which a command prints what it has to say as one document for programs. */
export function outputOption(): Option {
  return new Option("-o, --output <format>", "structured output instead of text").choices(["json", "yaml"]);
}

/** One of many values, as they come: a line of JSON, or a document of YAML. */
export function streamedText(value: object, format: StructuredFormat): string {
  return format === "json" ? JSON.stringify(value) : `---\n${outputText(value, format)}`;
}

/** A value as JSON or YAML, without a newline at its end. */
export function outputText(value: object, format: StructuredFormat): string {
  return format === "json" ? JSON.stringify(value, null, 2) : writeYaml(value).trimEnd();
}
