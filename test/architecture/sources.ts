import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export const ROOT = join(import.meta.dirname, "../..");

/** The folders of what users run. */
export const FOLDERS = [
  "domain",
  "runtime",
  "store",
  "controller",
  "server",
  "memory",
  "processes",
  "cli",
  "infra",
] as const;

/** Files below a folder of the project whose names end so, as paths from the project's root. */
export function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((file) => !file.includes("node_modules"))
    .sort();
}

const texts = new Map<string, string>();

export function read(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(ROOT, file), "utf8");
  texts.set(file, text);
  return text;
}

const imports = new Map<string, readonly string[]>();

/** The files of the project that a file imports for more than their types. */
export function importsOf(file: string): readonly string[] {
  const found = imports.get(file) ?? findImports(file);
  imports.set(file, found);
  return found;
}

function findImports(file: string): string[] {
  const statements = read(file).matchAll(/^(?:import|export) (?!type )([^;"]*?)"(\.[^"]+\.ts)";/gms);
  return [...statements]
    .filter(([, names = ""]) => !/^\{(\s*type [^,}]+,?)+\s*\} from $/.test(names))
    .map(([, , from = ""]) => join(dirname(file), from));
}
