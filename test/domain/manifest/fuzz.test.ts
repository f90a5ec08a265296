import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { formatDiagnostic } from "../../../domain/manifest/document/diagnostic.ts";
import { parseManifests } from "../../../domain/manifest/document/parse.ts";
import { readManifest } from "../../../domain/manifest/validation/validate.ts";
import { ANY_CHARACTER } from "../../env/any-character.ts";
import { examples } from "../../env/nightly.ts";
import { mutate, mutation, VALID } from "./mutations.ts";

/** Reads a text to the end and says which manifests are valid; every fault must be one line with a place. */
function readAll(text: string, old?: unknown): number {
  const { documents, diagnostics } = parseManifests(text, "f.yaml");
  const read = documents.map((document) => readManifest(document, old as never));
  for (const diagnostic of [...diagnostics, ...read.flatMap((one) => one.diagnostics)]) {
    expect(formatDiagnostic(diagnostic)).toMatch(/^f\.yaml:[1-9]\d*:[1-9]\d*: (error|warning|note): \P{Cc}+$/u);
  }
  for (const { manifest, diagnostics } of read) {
    expect(manifest === undefined).toBe(diagnostics.some(({ severity }) => severity === "error"));
  }
  return read.filter(({ manifest }) => manifest !== undefined).length;
}

describe("reading a file ends with faults or manifests, whatever is in it:", () => {
  test("the manifests that the mutations begin with are valid", () => {
    for (const valid of VALID) expect(readAll(stringify(valid))).toBe(1);
  });

  test("any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER, maxLength: 400 }), (text) => void readAll(text)),
      { numRuns: examples(100) },
    );
  });

  test("any text of YAML's own signs", () => {
    const signs = fc.constantFrom(
      ..."[]{}:,-?&*!|>'\"%@`# \n\t\r~<",
      "a",
      "1",
      "\n  ",
      "---\n",
      "...\n",
      ": ",
      "- ",
      "kind: Secret\n",
    );
    fc.assert(
      fc.property(fc.array(signs, { maxLength: 80 }), (parts) => void readAll(parts.join(""))),
      { numRuns: examples(150) },
    );
  });

  test("any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => void readAll(JSON.stringify(value))),
      { numRuns: examples(100) },
    );
  });

  test("valid manifests with things changed, as YAML and as JSON", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...VALID),
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
        fc.boolean(),
        (valid, all, json) => {
          const mutated = all.reduce<unknown>(mutate, valid);
          readAll(json ? JSON.stringify(mutated) : stringify(mutated), valid.spec);
        },
      ),
      { numRuns: examples(150) },
    );
  });

  test("valid manifests with bytes changed", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...VALID),
        fc.nat(700),
        fc.nat(20),
        fc.string({ unit: ANY_CHARACTER, maxLength: 6 }),
        (valid, at, cut, text) => {
          const yaml = stringify(valid);
          readAll(yaml.slice(0, at) + text + yaml.slice(at + cut));
        },
      ),
      { numRuns: examples(100) },
    );
  });
});
