import { Option } from "commander";
import { KINDS, type Kind } from "../../domain/manifest/kinds.ts";
import type { AddCommand, Process } from "../command.ts";
import { dataSource } from "../source/data-source.ts";
import { openSource, type SourceFlags, sourceOptions } from "../source/open-source.ts";
import { listWanted, type Seen, type Source, type Wanted } from "../source/source.ts";
import { UsageError } from "../usage-error.ts";
import { findOne, wantedOf } from "./find-one.ts";
import { follow } from "./follow.ts";
import { kindOf, PLURALS } from "./kind-words.ts";
import { createPrinter, FORMATS, type Format, isStructured, type Shown } from "./print-objects.ts";

type Flags = SourceFlags & {
  readonly namespace?: string;
  readonly watch?: true;
  readonly output: Format;
};

export const addGet: AddCommand = (program, { env, out, interrupt, terminal }) => {
  sourceOptions(
    program
      .command("get")
      .description("show what there is, and its state")
      .argument("<kind>", `${PLURALS}, or all; singular, and by the names of kubectl, too`)
      .argument("[name]", "NAME or NAMESPACE/NAME of one of them"),
  )
    .option("-n, --namespace <name>", "those of this namespace (default: of all)")
    .option("-w, --watch", "go on, and print what changes as it does")
    .addOption(new Option("-o, --output <format>", "how to print it").choices(FORMATS).default("table"))
    .suggest("keys", "teams", "gateways", "libraries", "all")
    .example("keyplane get keys --data .keyplane", "the keys of keyplane up")
    .example("keyplane get key team-a/reader --data .keyplane -o yaml", "one of them, with all that is known of it")
    .example("keyplane get keys --server https://keys.example.com --token-file token -o json", "all keys of a server")
    .example("keyplane get all -n team-a --kubeconfig ~/.kube/config", "what a cluster has in one namespace")
    .action(async (word: string, named: string | undefined, flags: Flags) => {
      const kinds = kindsOf(word);
      if (kinds.length > 1 && named !== undefined) throw new UsageError("all takes no name: say of which kind");
      const wanted = wantedOf(named, flags.namespace);
      const source = await openSource(env, flags);
      try {
        const task = { kinds, wanted, format: flags.output, watch: flags.watch === true };
        await runGet(source, task, { out, interrupt, terminal });
      } finally {
        source.close();
      }
    });
};

/** @throws UsageError for a word that means no kind */
function kindsOf(word: string): readonly Kind[] {
  const kind = kindOf(word);
  if (kind !== undefined) return [kind];
  if (word === "all") return KINDS;
  throw new UsageError(`get ${word}: there is no such kind: write ${PLURALS} or all`);
}

type Get = {
  readonly kinds: readonly Kind[];
  readonly wanted: Wanted;
  readonly format: Format;
  readonly watch: boolean;
};

async function runGet(
  source: Source,
  { kinds, wanted, format, watch }: Get,
  { out, interrupt, terminal }: Pick<Process, "out" | "interrupt" | "terminal">,
): Promise<void> {
  const shown: Shown = await Promise.all(kinds.map((kind) => listKind(source, kind, wanted)));
  const printer = createPrinter(format, { isColoured: terminal?.hasColours === true, now: Date.now });
  if (!watch) {
    out(printer.all(shown, wanted.name !== undefined));
    if (format !== "name" && !isStructured(format)) for (const note of await source.notes(kinds)) out(`\n${note}`);
    return;
  }
  const objects = shown.flatMap((one) => one.objects);
  if (!isStructured(format)) out(printer.all(shown, false));
  else for (const object of objects) out(printer.change(object));
  const onChange = (object: Seen, isGone: boolean) => out(printer.change(isGone ? asGone(object) : object));
  const list = async () => (await Promise.all(kinds.map((kind) => listWanted(source, kind, wanted)))).flat();
  const end = interrupt();
  // Whoever asks for its end does not wait for a server that does not answer.
  end.addEventListener("abort", () => source.close());
  await follow({ list, pollMs: source.pollMs }, objects, onChange, end);
}

/** All of a kind that are wanted, or the one. */
async function listKind(source: Source, kind: Kind, wanted: Wanted): Promise<Shown[number]> {
  if (wanted.name !== undefined) return { kind, objects: [await findOne(source, kind, wanted)] };
  return { kind, objects: await listWanted(source, kind, wanted) };
}

/** What is no longer there, as a row that says so. */
function asGone(object: Seen): Seen {
  const { conditions: _, ...status } = object.status ?? {};
  const gone = { type: "Ready", status: "False", reason: "Deleted", message: "", lastTransitionTime: "" } as const;
  return { ...object, status: { ...status, conditions: [gone] } } as Seen;
}

/** The keys of an embedded installation, as `get keys` shows them. */
export async function keyTable(data: string): Promise<string> {
  const source = dataSource(data);
  const shown = [{ kind: "PlatformKey", objects: await source.list("PlatformKey", {}) }] as const;
  const notes = await source.notes(["PlatformKey"]);
  return [createPrinter("table", { isColoured: false, now: Date.now }).all(shown, false), ...notes].join("\n\n");
}
