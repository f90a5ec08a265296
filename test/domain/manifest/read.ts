import { stringify } from "yaml";
import type { Spec } from "../../../domain/kinds/kinds.ts";
import { parseManifests } from "../../../domain/manifest/document/parse.ts";
import { readManifest } from "../../../domain/manifest/validation/validate.ts";

/** Faults as `severity line:column path: message`, and what the documents were read as. */
export function readText(text: string, old?: Spec) {
  const { documents, diagnostics } = parseManifests(text, "f.yaml");
  const read = documents.map((document) => readManifest(document, old));
  return {
    manifests: read.map(({ manifest }) => manifest),
    diagnostics: [...diagnostics, ...read.flatMap((one) => one.diagnostics)],
  };
}

/** The errors of one manifest, as `path: message`. */
export function errorsOf(text: string, old?: Spec): string[] {
  return messages(text, "error", old);
}

export function warningsOf(text: string): string[] {
  return messages(text, "warning");
}

function messages(text: string, severity: "error" | "warning", old?: Spec): string[] {
  return readText(text, old)
    .diagnostics.filter((diagnostic) => diagnostic.severity === severity)
    .map(({ path, message }) => `${path}: ${message}`);
}

/** A manifest of a kind; the spec as an object or as YAML's flow text. */
export function manifest(kind: string, spec: unknown, metadata: object = { name: "a", namespace: "team-a" }): string {
  const text = typeof spec === "string" ? spec : stringify(spec, null, { collectionStyle: "flow" }).trim();
  return `apiVersion: keyplane.dev/v1alpha1\nkind: ${kind}\nmetadata: ${JSON.stringify(metadata)}\nspec: ${text}\n`;
}

export function key(spec: string): string {
  return manifest("PlatformKey", spec);
}

export function team(spec: string): string {
  return manifest("PlatformTeam", spec, { name: "a" });
}

export function gateway(spec: string): string {
  return manifest("ModelGateway", spec);
}

/** The spec that a manifest stands for once it is stored. */
export function storedSpec(text: string): Spec {
  const [read] = readText(text).manifests;
  if (read === undefined || read.kind === "Secret") throw new Error(`not valid:\n${text}`);
  return read.spec;
}
