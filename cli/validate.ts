import { statSync } from "node:fs";
import { type Fault, formatFault } from "../domain/manifest/fault.ts";
import { findDuplicates, findMissingReferences } from "../domain/manifest/manifest-set.ts";
import type { AddCommand } from "./command.ts";
import { listManifestFiles, MANIFEST_EXTENSIONS, readManifestFile } from "./manifest-files.ts";

export const addValidate: AddCommand = (program, { out, exit }) => {
  program
    .command("validate")
    .description("check manifests as admission would, without a cluster")
    .option("-f, --filename <path...>", "files and folders to check")
    .action(async (flags) => {
      exit(await runValidate({ paths: flags.filename ?? [] }, out));
    });
};

/**
 * `keyplane validate`: checks files, and folders with all below them, as admission would and without a cluster. Each
 * fault is one line on `out`, then a summary.
 *
 * @returns the exit code: 0 valid (there may be warnings), 1 faults or nothing to check, 2 a path that does not exist
 */
export async function runValidate(options: { paths: readonly string[] }, out: (line: string) => void): Promise<number> {
  if (options.paths.length === 0) {
    out("nothing to validate: name a file or a folder with -f");
    return 2;
  }
  const files: string[] = [];
  for (const path of options.paths) {
    if (statSync(path, { throwIfNoEntry: false }) === undefined) {
      out(`${path}: no such file or folder`);
      return 2;
    }
    files.push(...listManifestFiles(path));
  }

  const checked = [...new Set(files)].map((file) => readManifestFile(file));
  const entries = checked.flatMap((file) => file.entries);
  const faults = [
    ...checked.flatMap((file) => file.faults),
    ...findDuplicates(entries),
    ...findMissingReferences(entries),
  ];
  for (const fault of inFileOrder(faults, files)) out(formatFault(fault));
  if (entries.length === 0 && faults.length === 0) {
    out(`no manifest found in ${options.paths.join(", ")}: manifests end in ${MANIFEST_EXTENSIONS.join(", ")}`);
    return 1;
  }
  const errors = faults.filter(({ severity }) => severity === "error").length;
  const counts = [count(entries.length, "manifest"), count(errors, "error"), count(faults.length - errors, "warning")];
  out(counts.join(", "));
  return errors > 0 ? 1 : 0;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function inFileOrder(faults: readonly Fault[], files: readonly string[]): Fault[] {
  const place = new Map(files.map((file, index) => [file, index]));
  return faults.toSorted(
    (a, b) => (place.get(a.file) ?? 0) - (place.get(b.file) ?? 0) || a.line - b.line || a.column - b.column,
  );
}
