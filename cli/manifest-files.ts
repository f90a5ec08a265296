import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Fault } from "../domain/manifest/fault.ts";
import { isRecord, readIdentity } from "../domain/manifest/identity.ts";
import type { Kind, Spec } from "../domain/manifest/kinds.ts";
import type { SetEntry } from "../domain/manifest/manifest-set.ts";
import { type ManifestDocument, parseManifests } from "../domain/manifest/parse.ts";
import { readManifest } from "../domain/manifest/validate.ts";

export const MANIFEST_EXTENSIONS = [".yaml", ".yml", ".json"];

/** The spec of an object as it is stored, to check what may not change; undefined for a new one. */
export type StoredSpec = (kind: Kind, namespace: string, name: string) => Spec | undefined;

/** A file as it is named; of a folder the manifests in it and below, in the order of their names, without dot files. */
export function listManifestFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter(({ name }) => !name.startsWith("."))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) return listManifestFiles(inner);
      return MANIFEST_EXTENSIONS.some((extension) => entry.name.endsWith(extension)) ? [inner] : [];
    });
}

/** What is in one file, and what is wrong with each of its documents alone. */
export function readManifestFile(
  file: string,
  storedSpec: StoredSpec = () => undefined,
): { entries: SetEntry[]; faults: Fault[] } {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const message = `cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    return { entries: [], faults: [{ severity: "error", file, line: 1, column: 1, path: "", message }] };
  }
  const { documents, faults } = parseManifests(text, file);
  const entries = documents.map((document) => ({
    document,
    read: readManifest(document, specOf(document, storedSpec), Date.now()),
  }));
  return { entries, faults: [...faults, ...entries.flatMap(({ read }) => read.faults)] };
}

function specOf({ value }: ManifestDocument, storedSpec: StoredSpec): Spec | undefined {
  const identity = isRecord(value) ? readIdentity(value).identity : undefined;
  if (identity === undefined || identity.kind === "Secret") return undefined;
  return storedSpec(identity.kind, identity.namespace, identity.name);
}
