/** What `validate` finds in SARIF 2.1.0, which code scanning and editors read. */
import { isAbsolute, normalize, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Diagnostic } from "../../domain/manifest/document/diagnostic.ts";
import { packageVersion } from "../version/package-version.ts";

/** A rule for each severity: ids that stay, by which a code scanner keeps what was dismissed. */
const RULES: Readonly<Record<Diagnostic["severity"], { readonly id: string; readonly text: string }>> = {
  error: { id: "invalid-manifest", text: "Admission refuses this." },
  warning: { id: "doubtful-manifest", text: "This is admitted, but is probably not what is meant." },
  note: { id: "passed-over", text: "This is not looked at." },
};

/** As a log file of SARIF has it, in the order of the diagnostics. */
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

/** Relative to where the command was called, as the file was named: for a code scanner the root of the repository. */
function uriOf(file: string): string {
  if (isAbsolute(file)) return pathToFileURL(file).href;
  return normalize(file).split(sep).map(encodeURIComponent).join("/");
}
