/** Findings of `validate` in SARIF 2.1.0, which code scanning and editors read. */
import { isAbsolute, normalize, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Diagnostic } from "../../domain/manifest/document/diagnostic.ts";
import { packageVersion } from "../version/package-version.ts";

/** Rules by severity. Their ids never change, since code scanners keep dismissals by id. */
const RULES: Readonly<Record<Diagnostic["severity"], { readonly id: string; readonly text: string }>> = {
  error: { id: "invalid-manifest", text: "Admission refuses this." },
  warning: { id: "doubtful-manifest", text: "This is admitted, but is probably not what is meant." },
  note: { id: "passed-over", text: "This is not looked at." },
};

/** Returns a SARIF log, in the order of the diagnostics. */
export function sarifOf(diagnostics: readonly Diagnostic[]): object {
  const rules = Object.values(RULES).map(({ id, text }) => ({ id, shortDescription: { text } }));
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "keyplane", version: packageVersion(), rules } },
        columnKind: "utf16CodeUnits",
        results: diagnostics.map(resultOf),
      },
    ],
  };
}

function resultOf({ severity, file, line, column, path, message }: Diagnostic): object {
  const location = {
    physicalLocation: { artifactLocation: { uri: uriOf(file) }, region: { startLine: line, startColumn: column } },
    ...(path === "" ? {} : { logicalLocations: [{ fullyQualifiedName: path }] }),
  };
  const text = path === "" ? message : `${path}: ${message}`;
  return { ruleId: RULES[severity].id, level: severity, message: { text }, locations: [location] };
}

/**
 * Returns the URI of a file, relative to the working directory if it was named so: for a code scanner that is the root
 * of the repository.
 */
function uriOf(file: string): string {
  if (isAbsolute(file)) return pathToFileURL(file).href;
  return normalize(file).split(sep).map(encodeURIComponent).join("/");
}
