import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { expect, onTestFinished, test } from "vitest";
import { sarifOf } from "../../../cli/validate/validate-sarif.ts";
import type { Diagnostic } from "../../../domain/manifest/document/diagnostic.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { keyplane } from "../up.ts";

const text = {
  type: "object",
  required: ["text"],
  properties: { text: { type: "string", minLength: 1 } },
};
/** What the schema of SARIF 2.1.0 asks of what is used here, and what GitHub's code scanning needs besides. */
const SARIF = {
  type: "object",
  required: ["version", "runs"],
  properties: {
    version: { const: "2.1.0" },
    $schema: { type: "string", format: "uri" },
    runs: {
      type: "array",
      items: {
        type: "object",
        required: ["tool", "results"],
        properties: {
          tool: {
            type: "object",
            required: ["driver"],
            properties: {
              driver: {
                type: "object",
                required: ["name", "rules"],
                properties: {
                  name: { type: "string" },
                  version: { type: "string" },
                  rules: {
                    type: "array",
                    uniqueItems: true,
                    items: {
                      type: "object",
                      required: ["id"],
                      properties: { id: { type: "string" }, shortDescription: text },
                    },
                  },
                },
              },
            },
          },
          columnKind: { enum: ["utf16CodeUnits", "unicodeCodePoints"] },
          results: {
            type: "array",
            items: {
              type: "object",
              required: ["ruleId", "message", "locations"],
              properties: {
                ruleId: { type: "string" },
                level: { enum: ["none", "note", "warning", "error"] },
                message: text,
                locations: {
                  type: "array",
                  minItems: 1,
                  items: {
                    type: "object",
                    required: ["physicalLocation"],
                    properties: {
                      physicalLocation: {
                        type: "object",
                        required: ["artifactLocation", "region"],
                        properties: {
                          artifactLocation: {
                            type: "object",
                            required: ["uri"],
                            properties: { uri: { type: "string", format: "uri-reference" } },
                          },
                          region: {
                            type: "object",
                            required: ["startLine"],
                            properties: {
                              startLine: { type: "integer", minimum: 1 },
                              startColumn: { type: "integer", minimum: 1 },
                            },
                          },
                        },
                      },
                      logicalLocations: {
                        type: "array",
                        items: { type: "object", properties: { fullyQualifiedName: { type: "string" } } },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
};

function expectSarif(log: unknown): void {
  const ajv = new Ajv({ strict: true });
  formats.default(ajv);
  expect(ajv.validate(SARIF, log), ajv.errorsText()).toBe(true);
}

const diagnostic = (given: Partial<Diagnostic>): Diagnostic => ({
  ...{ severity: "error", file: "a.yaml", line: 1, column: 1, path: "", message: "wrong" },
  ...given,
});

/** What there is of each result. */
type Log = {
  runs: [
    {
      results: {
        ruleId: string;
        level: string;
        locations: [{ physicalLocation: { artifactLocation: { uri: string } } }];
      }[];
    },
  ];
};
const urisOf = (log: object) =>
  (log as Log).runs[0].results.map(({ locations }) => locations[0].physicalLocation.artifactLocation.uri);

test("keyplane validate -o sarif has each fault with its rule, its place and its level", async () => {
  const folder = mkdtempSync(join(tmpdir(), "keyplane-sarif-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "a.yaml");
  writeFileSync(
    file,
    "apiVersion: keyplane.dev/v1alpha1\nkind: PlatformKey\nmetadata: { name: k, namespace: team-a }\nspec: { scopes: [memory:reed] }\n",
  );
  const { code, out, err } = await keyplane(["validate", "-f", folder, "-o", "sarif"]);
  const log = JSON.parse(out);
  expectSarif(log);
  expect([code, err, log.runs[0].tool.driver.version]).toEqual([1, "", packageJson.version]);
  expect(log.runs[0].results).toContainEqual({
    ruleId: "invalid-manifest",
    level: "error",
    message: { text: 'spec.scopes[0]: unknown value "memory:reed": did you mean memory:read?' },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: pathToFileURL(file).href },
          region: { startLine: 4, startColumn: 18 },
        },
        logicalLocations: [{ fullyQualifiedName: "spec.scopes[0]" }],
      },
    ],
  });
});

test("each level has a rule of its own that the log describes, and no fault is a log without results", () => {
  const log = sarifOf((["error", "warning", "note"] as const).map((severity) => diagnostic({ severity }))) as Log & {
    runs: [{ tool: { driver: { rules: { id: string }[] } } }];
  };
  expectSarif(log);
  const [{ results, tool }] = log.runs;
  expect(results.map(({ level }) => level)).toEqual(["error", "warning", "note"]);
  expect(results.map(({ ruleId }) => ruleId)).toEqual(tool.driver.rules.map(({ id }) => id));
  expectSarif(sarifOf([]));
});

test("a file is named by its URI, relative as it was given", () => {
  const files = ["manifests/a.yaml", "./a b.yaml", "ü#1%.yaml", "<stdin>", "/tmp/a b.yaml"];
  const log = sarifOf(files.map((file) => diagnostic({ file })));
  expectSarif(log);
  expect(urisOf(log)).toEqual([
    "manifests/a.yaml",
    "a%20b.yaml",
    "%C3%BC%231%25.yaml",
    "%3Cstdin%3E",
    "file:///tmp/a%20b.yaml",
  ]);
});
