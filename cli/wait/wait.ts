import { parseDuration } from "../../domain/duration.ts";
import { KINDS, type Kind } from "../../domain/kinds/kinds.ts";
import type { AddCommand } from "../command/command.ts";
import { UsageError } from "../command/usage-error.ts";
import { typeAndName } from "../get/print-objects.ts";
import { outputOption, outputText, type StructuredFormat } from "../output/output.ts";
import { findAtMostOne, wantedOf } from "../source/find-one.ts";
import { KIND_WORDS, kindOf, PLURALS, unknownKind } from "../source/kind-words.ts";
import { chooseDeclared, type DeclaredFlags, declaredOptions, openDeclared } from "../source/open-source.ts";
import type { ListedObject, ListFilter, Source } from "../source/source.ts";
import { type AwaitedState, parseAwaitedState } from "./awaited-state.ts";

type Flags = DeclaredFlags & {
  readonly namespace?: string;
  readonly for: string;
  readonly timeout: string;
  readonly output?: StructuredFormat;
};

/**
 * Adds `keyplane wait`, which works as `kubectl wait` but also waits for an object that does not exist yet: a folder
 * takes a while to be read.
 */
export const addWait: AddCommand = (program, { env, out, interrupt, progress }) => {
  declaredOptions(
    program
      .command("wait")
      .description("wait until an object has a condition or is gone; exit with 1 after --timeout")
      .argument("<kind>", `${PLURALS}, or the singular`)
      .argument("<name>", "NAME or NAMESPACE/NAME"),
  )
    .option("-n, --namespace <name>", "its namespace, where the name is ambiguous")
    .option("--for <what>", "condition=TYPE, condition=TYPE=STATUS or delete", "condition=Ready")
    .option("--timeout <duration>", "the longest wait; 0 checks once", "30s")
    .addOption(outputOption())
    .suggest(...KINDS.map((kind) => KIND_WORDS[kind][1]))
    .example("keyplane wait key team-a/reader --data .keyplane", "until a key is ready")
    .example(
      "keyplane wait gateway main -n team-a --for delete --timeout 2m --kubeconfig ~/.kube/config",
      "until a gateway of a cluster is gone",
    )
    .action(async (word: string, named: string, flags: Flags) => {
      const { namespace, for: awaited, timeout, output, ...choice } = flags;
      const kind = kindOf(word);
      if (kind === undefined) throw unknownKind("wait", word);
      const task = { kind, wanted: wantedOf(named, namespace), state: parseAwaitedState(awaited) };
      const timeoutMs = timeoutOf(timeout);
      const source = await openDeclared(chooseDeclared(env, choice));
      try {
        const title = `${kind.toLowerCase()}/${named}`;
        const limit = AbortSignal.timeout(timeoutMs || ONE_LOOK_MS);
        const end = AbortSignal.any([limit, interrupt()]);
        const { isMet, seen } = await progress.during(`waiting for ${awaited} of ${title}`, () =>
          waitForState(source, task, { end, looksOnce: timeoutMs === 0 }),
        );
        const object = seen?.object;
        if (output !== undefined) out(outputText({ met: isMet, object: object?.json ?? null }, output));
        else if (isMet) out(`${object === undefined ? title : typeAndName(object)} condition met`);
        if (isMet) return;
        const why = end.aborted && !limit.aborted ? "interrupted" : `timed out after ${timeout}`;
        const instead = seen === undefined ? "no answer has come" : task.state.instead(object);
        throw new Error(`${why} while waiting for ${awaited} of ${title}: ${instead}`);
      } finally {
        source.close();
      }
    });
};

/** Longest time that a timer takes. Milliseconds. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** Longest time for a single look, with a timeout of 0. Milliseconds. */
const ONE_LOOK_MS = 30_000;

/**
 * Parses `--timeout`, into milliseconds.
 *
 * @throws UsageError if it is not a duration
 */
function timeoutOf(text: string): number {
  if (text === "0") return 0;
  try {
    return Math.min(parseDuration(text), MAX_TIMEOUT_MS);
  } catch {
    throw new UsageError(`--timeout ${text}: write a duration such as 30s or 5m, or 0 to look once`);
  }
}

type WaitTask = { readonly kind: Kind; readonly wanted: ListFilter; readonly state: AwaitedState };
type Waited = {
  readonly isMet: boolean;
  /** Last look at the object, which is undefined if there was none. Missing if no look had an answer. */
  readonly seen?: { readonly object: ListedObject | undefined };
};

/**
 * Waits until the object is in the state.
 *
 * @param end signal after which pending requests are dropped
 * @returns the last look, once the state is reached, or after one look, or at the end
 * @throws Error if the object cannot be read
 * @throws UsageError if several have its name
 */
async function waitForState(
  source: Source,
  { kind, wanted, state }: WaitTask,
  { end, looksOnce }: { readonly end: AbortSignal; readonly looksOnce: boolean },
): Promise<Waited> {
  let seen: Waited["seen"];
  const ended = new AbortController();
  end.addEventListener("abort", () => source.close(), { once: true });
  try {
    const first = await findAtMostOne(source, kind, wanted);
    seen = { object: first };
    if (looksOnce || state.isMet(first)) return { isMet: state.isMet(first), seen };
    for await (const _ of source.changes([kind], [wanted], AbortSignal.any([end, ended.signal]))) {
      const object = await findAtMostOne(source, kind, wanted);
      seen = { object };
      if (state.isMet(object, first)) return { isMet: true, seen };
    }
  } catch (error) {
    if (!end.aborted) throw error;
  } finally {
    ended.abort();
  }
  return { isMet: false, ...(seen && { seen }) };
}
