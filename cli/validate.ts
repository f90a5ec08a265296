import { MANIFEST_EXTENSIONS } from "../controller/cluster/files/find-files.ts";
import { type Diagnostic, formatDiagnostic } from "../domain/manifest/diagnostic.ts";
import { findDuplicates, findMissingReferences } from "../domain/manifest/manifest-set.ts";
import type { AddCommand } from "./command.ts";
import { assertPresent, listManifestFiles, readManifestFile, readStdin } from "./manifest-files.ts";
import { UsageError } from "./usage-error.ts";

export const addValidate: AddCommand = (program, { out, exit }) => {
  program
    .command("validate")
    .description("check manifests as admission would, without a cluster")
    .option("-f, --filename <path...>", "files and folders to check; - is standard input")
    .example("keyplane validate -f manifests", "check a folder with all below it")
    .example("kustomize build . | keyplane validate -f -", "check what another program writes")
    .action(async (flags) => {
      const paths = flags.filename ?? [];
      exit(await runValidate({ paths, stdin: await readStdin(paths) }, out));
    });
};

/**
 * `keyplane validate`: checks files, and folders with all below them, as admission would and without a cluster. Each
 * fault is one line on `out`, then a summary.
 *
 * @param stdin what came by standard input, where a path is `-`
 * @returns the exit code: 0 valid (there may be warnings), 1 faults or nothing to check
 * @throws UsageError for no path, and for one that leads nowhere
 */
export async function runValidate(
  { paths, stdin }: { readonly paths: readonly string[]; readonly stdin?: string | undefined },
  out: (line: string) => void,
): Promise<number> {
  if (paths.length === 0) throw new UsageError("nothing to validate: name a file or a folder with --filename");
  assertPresent(paths);
  const files = new Set(paths.flatMap(listManifestFiles));
  const checked = [...files].map((file) => readManifestFile(file, { stdin }));
  const entries = checked.flatMap((file) => file.entries);
  const diagnostics = [
    ...checked.flatMap((file) => file.diagnostics),
    ...findDuplicates(entries),
    ...findMissingReferences(entries),
  ];
  const order = checked.map(({ file }) => file);
  for (const diagnostic of inFileOrder(diagnostics, order)) out(formatDiagnostic(diagnostic));
  if (entries.length === 0 && diagnostics.length === 0) {
    out(
      files.size === 0
        ? `no manifest found in ${paths.join(", ")}: manifests end in ${MANIFEST_EXTENSIONS.join(", ")}`
        : `no manifest found in ${[...files].join(", ")}: what is there is empty, or an empty list`,
    );
    return 1;
  }
  const { error: { length: errors } = [], warning: { length: warnings } = [] } = Object.groupBy(
    diagnostics,
    ({ severity }) => severity,
  );
  const passedOver = checked.reduce((sum, file) => sum + file.passedOver, 0);
  const counts = [count(entries.length, "manifest"), count(errors, "error"), count(warnings, "warning")];
  out([...counts, ...(passedOver > 0 ? [`${passedOver} of other kinds passed over`] : [])].join(", "));
  return errors > 0 ? 1 : 0;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function inFileOrder(diagnostics: readonly Diagnostic[], files: readonly string[]): Diagnostic[] {
  const place = new Map(files.map((file, index) => [file, index]));
  return diagnostics.toSorted(
    (a, b) => (place.get(a.file) ?? 0) - (place.get(b.file) ?? 0) || a.line - b.line || a.column - b.column,
  );
}
