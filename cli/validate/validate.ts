import { statSync } from "node:fs";
import { Option } from "commander";
import { MANIFEST_EXTENSIONS } from "../../controller/cluster/files/manifests/find-files.ts";
import { counted } from "../../domain/counted.ts";
import { type Diagnostic, formatDiagnostic, printable } from "../../domain/manifest/document/diagnostic.ts";
import { MAX_FILE_BYTES } from "../../domain/manifest/document/parse.ts";
import { findDuplicateManifests } from "../../domain/manifest/set/manifest-set.ts";
import { findSetWarnings } from "../../domain/manifest/set/set-warnings.ts";
import { parsePriceList } from "../../domain/usage/parse-price-list.ts";
import type { AddCommand } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { outputText, type StructuredFormat } from "../output/output.ts";
import { readBounded } from "./bounded-file.ts";
import { assertPresent, listDeclaredFiles, readManifestFile, readStdin } from "./manifest-files.ts";
import { sarifOf } from "./validate-sarif.ts";

type Output = StructuredFormat | "sarif";

/** Lowest severity that exits with 1. */
type FailOn = "errors" | "warnings";

type Flags = {
  readonly filename?: readonly string[];
  readonly priceList?: string;
  readonly output?: Output;
  readonly failOn: FailOn;
};

export const addValidate: AddCommand = (program, { out, exit }) => {
  program
    .command("validate")
    .description("check manifests and their references as admission would, without a cluster")
    .option("-f, --filename <path...>", "files and folders to check; - is standard input")
    .option("--price-list <path>", "a server's price list to check")
    .example("keyplane validate -f manifests", "check a folder recursively")
    .example("keyplane validate -f manifests -o json", "for a program: counts, and the position of each fault")
    .example("keyplane validate -f manifests -o sarif > keyplane.sarif", "for code scanning")
    .example("keyplane validate --price-list prices.yaml", "check a price list before the server reads it")
    .example("kustomize build . | keyplane validate -f -", "check another program's output")
    .example("keyplane validate -f manifests --fail-on warnings", "for CI: exit with 1 for warnings too")
    .addOption(
      new Option("-o, --output <format>", "the output format, instead of lines").choices(["json", "yaml", "sarif"]),
    )
    .addOption(
      new Option("--fail-on <severity>", "the lowest severity that exits with 1")
        .choices(["errors", "warnings"])
        .default("errors"),
    )
    .action(async ({ filename: paths = [], priceList: prices, output, failOn }: Flags) => {
      exit(await runValidate({ paths, prices, stdin: await readStdin(paths), output, failOn }, out));
    });
};

type ValidateOptions = {
  readonly paths: readonly string[];
  /** Path of a price list. */
  readonly prices?: string | undefined;
  /** Bytes of standard input, for the path `-`. */
  readonly stdin?: Uint8Array | undefined;
  /** Output format; undefined for lines. */
  readonly output?: Output | undefined;
  /** Lowest severity that fails. With `warnings`, warnings count as errors do; notes never count. */
  readonly failOn?: FailOn;
};

/**
 * Runs `keyplane validate`: checks files, and folders with all below them, as admission would and without a cluster,
 * and warns about references between them. Each fault is a line on `out`, followed by a summary; or everything is one
 * document.
 *
 * @returns the exit code: 0 valid, 1 faults or nothing to check
 * @throws UsageError if no path is given, or a path does not exist
 */
export async function runValidate(
  { paths, prices, stdin, output, failOn = "errors" }: ValidateOptions,
  out: (text: string) => void,
): Promise<number> {
  if (paths.length === 0 && prices === undefined) {
    throw new UsageError("nothing to validate: name a file or a folder with --filename");
  }
  if (prices !== undefined) {
    assertPresent([prices], "--price-list ");
    if (statSync(prices, { throwIfNoEntry: false })?.isDirectory())
      throw new UsageError(`--price-list ${prices}: that is a folder: name the file`);
  }
  const files = listDeclaredFiles(paths);
  const found = check(files, stdin, prices);
  if (output === "sarif") out(outputText(sarifOf(found.diagnostics), "json"));
  else if (output !== undefined) out(outputText(found, output));
  else {
    for (const diagnostic of found.diagnostics) out(formatDiagnostic(diagnostic));
    if (prices !== undefined) out(printable(`${prices}: ${priceSummary(found, prices)}`));
    if (paths.length > 0) out(printable(summarize(found, files, paths)));
  }
  const faults = found.errors + (failOn === "warnings" ? found.warnings : 0);
  return faults > 0 || (paths.length > 0 && isNothing(found)) ? 1 : 0;
}

/** Result as `-o json` shows it. */
type Checked = {
  readonly manifests: number;
  readonly errors: number;
  readonly warnings: number;
  /** Number of manifests of other kinds. */
  readonly passedOver: number;
  readonly diagnostics: readonly Diagnostic[];
};

/** Returns the faults of a price list. It has no manifests. */
function checkPrices(file: string): Diagnostic[] {
  const read = parsePriceList(readBounded(file, MAX_FILE_BYTES));
  return "list" in read ? [] : read.faults.map((fault) => ({ severity: "error", file, ...fault }));
}

function priceSummary({ diagnostics }: Checked, prices: string): string {
  const faults = diagnostics.filter(({ file }) => file === prices).length;
  return faults === 0 ? "a price list" : `a price list with ${counted(faults, "error")}`;
}

function check(files: readonly string[], stdin: Uint8Array | undefined, prices: string | undefined): Checked {
  const checked = files.map((file) => readManifestFile(file, { stdin, mayBeUnread: () => true }));
  const entries = checked.flatMap((file) => file.entries);
  const diagnostics = [
    ...checked.flatMap((file) => file.diagnostics),
    ...findDuplicateManifests(entries),
    ...findSetWarnings(entries, Date.now()),
    ...(prices === undefined ? [] : checkPrices(prices)),
  ];
  const { error = [], warning = [] } = Object.groupBy(diagnostics, ({ severity }) => severity);
  return {
    manifests: entries.length,
    errors: error.length,
    warnings: warning.length,
    passedOver: checked.reduce((sum, file) => sum + file.passedOver, 0),
    diagnostics: inFileOrder(diagnostics, [
      ...checked.map(({ file }) => file),
      ...(prices === undefined ? [] : [prices]),
    ]),
  };
}

function isNothing({ manifests, diagnostics }: Checked): boolean {
  return manifests === 0 && diagnostics.length === 0;
}

function summarize(found: Checked, files: readonly string[], paths: readonly string[]): string {
  if (isNothing(found)) {
    return files.length === 0
      ? `no manifest found in ${paths.join(", ")}: manifests end in ${MANIFEST_EXTENSIONS.join(", ")}`
      : `no manifest found in ${files.join(", ")}: what is there is empty, or an empty list`;
  }
  const { manifests, errors, warnings, passedOver } = found;
  const counts = [counted(manifests, "manifest"), counted(errors, "error"), counted(warnings, "warning")];
  return [...counts, ...(passedOver > 0 ? [`${passedOver} of other kinds passed over`] : [])].join(", ");
}

function inFileOrder(diagnostics: readonly Diagnostic[], files: readonly string[]): Diagnostic[] {
  const positionOf = new Map(files.map((file, index) => [file, index]));
  return diagnostics.toSorted(
    (a, b) => (positionOf.get(a.file) ?? 0) - (positionOf.get(b.file) ?? 0) || a.line - b.line || a.column - b.column,
  );
}
