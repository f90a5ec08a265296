import { Option } from "commander";
import { errorMessage } from "../../domain/error-text.ts";
import { KINDS, type Kind } from "../../domain/kinds/kinds.ts";
import type { AddCommand, Process } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { dataSource } from "../source/data-source.ts";
import { findOne, type NamespaceFlags, namespaceIn, namespaceOptions, wantedOf } from "../source/find-one.ts";
import { kindOf, PLURALS, unknownKind } from "../source/kind-words.ts";
import { parseLabelSelector } from "../source/label-selector.ts";
import { openSource, type SourceFlags, sourceOptions } from "../source/open-source.ts";
import { type ListedObject, type ListFilter, listMatching, type Source } from "../source/source.ts";
import { follow } from "./follow.ts";
import { createPrinter, FORMATS, type Format, isStructured, type ObjectsByKind } from "./print-objects.ts";
import { type FieldPath, parseFieldPath, sortedBy } from "./sort-objects.ts";
import { getUsage, refuseUsageFlags, USAGE, type UsageFlags, usageOptions } from "./usage.ts";

type Flags = SourceFlags &
  NamespaceFlags &
  UsageFlags & {
    readonly selector?: string;
    readonly sortBy?: string;
    readonly headers: boolean;
    readonly watch?: true;
    readonly output: Format | typeof CSV;
  };

export const addGet: AddCommand = (program, process) => {
  const { env } = process;
  const command = sourceOptions(
    program
      .command("get")
      .description("list objects and their state, or usage")
      .argument("<kind>", `${PLURALS}, ${ALL} or ${USAGE}; the singular and kubectl's names work too`)
      .argument("[names...]", "NAME, NAMESPACE/NAME or key's id; for usage one, also by prefix"),
  );
  usageOptions(namespaceOptions(command))
    .option("-l, --selector <labels>", "a label selector, as in kubectl; not with --server")
    .option("--sort-by <path>", "a field of -o json to sort by, such as .metadata.name")
    .option("--no-headers", "print no header row")
    .option("-w, --watch", "keep running, and print changes")
    .addOption(
      new Option("-o, --output <format>", `the output format; ${CSV} for ${USAGE} only`)
        .choices([...FORMATS, CSV])
        .default("table"),
    )
    .suggest("keys", "teams", "gateways", "libraries", ALL, USAGE)
    .example("keyplane get keys --data .keyplane", "the keys of keyplane up")
    .example("keyplane get key team-a/reader --data .keyplane -o yaml", "one key with all its fields")
    .example(
      "keyplane get keys -l app=agent --sort-by .status.expiresAt --data .keyplane",
      "keys with a label, by expiry",
    )
    .example("keyplane get keys --server https://keys.example.com --token-file token -o json", "all keys of a server")
    .example("keyplane get all -n team-a --kubeconfig ~/.kube/config", "all objects of a namespace of a cluster")
    .example("keyplane get usage --since 7d --by model --data .keyplane", "the usage of the last week by model")
    .example("keyplane get usage --since 2026-10-01 --until 2026-11-01 --by team -o csv", "a month, for a spreadsheet")
    .action(async (word: string, names: readonly string[], flags: Flags) => {
      if (word === USAGE) {
        refuseObjectFlags(flags);
        return getUsage({ names, flags, format: flags.output, hasHeadings: flags.headers }, process);
      }
      refuseUsageFlags(flags);
      if (flags.output === CSV) throw new UsageError(`-o ${CSV} goes with get ${USAGE} alone`);
      const kinds = kindsOf(word);
      if (kinds.length > 1 && names.length > 0) throw new UsageError(`${ALL} takes no name: say of which kind`);
      const task = {
        kinds,
        wanted: wantedBy(names, flags),
        isNamed: names.length > 0,
        watch: flags.watch === true,
        format: flags.output,
        hasHeadings: flags.headers,
        order: flags.sortBy === undefined ? undefined : parseFieldPath(flags.sortBy),
      };
      const source = await openSource(env, flags);
      try {
        await runGet(source, task, process);
      } finally {
        source.close();
      }
    });
};

/** Output format for spreadsheets, of usage only. */
const CSV = "csv";

/**
 * Refuses flags that do not go with usage.
 *
 * @throws UsageError for a flag that only objects have
 */
function refuseObjectFlags({ namespace, selector, sortBy, watch }: Flags): void {
  const given = [
    ["-n", namespace],
    ["-l", selector],
    ["--sort-by", sortBy],
    ["-w", watch],
  ].find(([, value]) => value !== undefined);
  if (given !== undefined) throw new UsageError(`${given[0]} does not go with get ${USAGE}: see keyplane get --help`);
}

/** Word for all kinds. */
const ALL = "all";

/**
 * Returns the kinds that a word means.
 *
 * @throws UsageError for a word that means no kind
 */
function kindsOf(word: string): readonly Kind[] {
  if (word === ALL) return KINDS;
  const kind = kindOf(word);
  if (kind === undefined) throw unknownKind("get", word, ALL);
  return [kind];
}

/**
 * Returns a filter for each name, or one for all.
 *
 * @throws UsageError for an invalid name, and for names together with a selector
 */
function wantedBy(names: readonly string[], flags: Flags): readonly ListFilter[] {
  const namespace = namespaceIn(flags);
  const labels = parseLabelSelector(flags.selector);
  if (names.length === 0) return [{ ...wantedOf(undefined, namespace), labels }];
  if (labels !== undefined) throw new UsageError("-l selects among all: give it, or names");
  return names.map((name) => wantedOf(name, namespace));
}

type Get = {
  readonly kinds: readonly Kind[];
  /** Filters: one for each name, or one for all. */
  readonly wanted: readonly ListFilter[];
  readonly isNamed: boolean;
  readonly order: FieldPath | undefined;
  readonly format: Format;
  readonly hasHeadings: boolean;
  readonly watch: boolean;
};

/**
 * Prints the objects, and their changes if asked.
 *
 * @throws Error for names that match nothing, after the other objects are shown
 */
async function runGet(
  source: Source,
  { kinds, wanted, isNamed, order, format, hasHeadings, watch }: Get,
  { out, interrupt, terminal, progress }: Process,
): Promise<void> {
  const read = isNamed ? findEach : listEach;
  const { found, faults } = await progress.during("reading", () => read(source, kinds, wanted));
  const objects = order === undefined ? found : sortedBy(order, found);
  const shown: ObjectsByKind = kinds.map((kind) => ({
    kind,
    objects: objects.filter((object) => object.kind === kind),
  }));
  const printer = createPrinter(format, { isColoured: terminal?.hasColours === true, hasHeadings, now: Date.now });
  const print = (text: string) => text !== "" && out(text);
  if (!watch || faults.length > 0) {
    if (faults.length < wanted.length) print(printer.all(shown, isNamed && wanted.length === 1));
    throwAll(faults);
    if (hasHeadings && format !== "name" && !isStructured(format)) {
      for (const note of await source.notes(kinds)) out(`\n${note}`);
    }
    return;
  }
  if (!isStructured(format)) print(printer.all(shown, false));
  else for (const object of objects) out(printer.change(object));
  const onChange = (object: ListedObject, isGone: boolean) => out(printer.change(isGone ? asGone(object) : object));
  const list = async () => (await listEach(source, kinds, wanted)).found;
  const end = interrupt();
  // An interrupt does not wait for a server that does not answer.
  end.addEventListener("abort", () => source.close());
  await follow({ list, changes: () => source.changes(kinds, wanted, end) }, objects, onChange, end);
}

/** Objects that were found, and errors for those that were not. */
type FoundObjects = { readonly found: readonly ListedObject[]; readonly faults: readonly unknown[] };

async function listEach(source: Source, kinds: readonly Kind[], wanted: readonly ListFilter[]): Promise<FoundObjects> {
  const lists = kinds.flatMap((kind) => wanted.map((one) => listMatching(source, kind, one)));
  return { found: (await Promise.all(lists)).flat(), faults: [] };
}

/** Finds the only object of each name. */
async function findEach(source: Source, kinds: readonly Kind[], wanted: readonly ListFilter[]): Promise<FoundObjects> {
  const results = await Promise.allSettled(
    kinds.flatMap((kind) => wanted.map((one): Promise<ListedObject> => findOne(source, kind, one))),
  );
  return {
    found: results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : [])),
    faults: results.flatMap((result) => (result.status === "rejected" ? [result.reason] : [])),
  };
}

/** Throws the fault itself, or for several one error with all messages. */
function throwAll(faults: readonly unknown[]): void {
  const messages = [...new Set(faults.map(errorMessage))];
  if (messages.length > 1) throw new Error(messages.join("; "));
  if (messages.length === 1) throw faults[0];
}

/** Returns a deleted object as a row that says so. */
function asGone(object: ListedObject): ListedObject {
  const { conditions: _, ...status } = object.status ?? {};
  const gone = { type: "Ready", status: "False", reason: "Deleted", message: "", lastTransitionTime: "" } as const;
  return { ...object, status: { ...status, conditions: [gone] } } as ListedObject;
}

/** Returns the keys of an embedded installation, as `get keys` shows them. */
export async function keyTable(data: string): Promise<string> {
  const source = dataSource(data);
  const shown = [{ kind: "PlatformKey", objects: await source.list("PlatformKey", {}) }] as const;
  const notes = await source.notes(["PlatformKey"]);
  return [
    createPrinter("table", { isColoured: false, hasHeadings: true, now: Date.now }).all(shown, false),
    ...notes,
  ].join("\n\n");
}
