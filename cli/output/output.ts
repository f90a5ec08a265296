import { Option } from "commander";
import { writeYaml } from "../../domain/manifest/document/write-yaml.ts";

/** Formats for programs. */
export type StructuredFormat = "json" | "yaml";

/** Returns the flag by which a command prints its result as one document for programs. */
export function outputOption(): Option {
  return new Option("-o, --output <format>", "structured output instead of text").choices(["json", "yaml"]);
}

/** Formats one of a stream of values: a line of JSON, or a document of YAML. */
export function streamedText(value: object, format: StructuredFormat): string {
  return format === "json" ? JSON.stringify(value) : `---\n${outputText(value, format)}`;
}

/** Formats a value as JSON or YAML, without a newline at its end. */
export function outputText(value: object, format: StructuredFormat): string {
  return format === "json" ? JSON.stringify(value, null, 2) : writeYaml(value).trimEnd();
}
