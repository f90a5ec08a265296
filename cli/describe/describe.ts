import { errorMessage } from "../../domain/error-text.ts";
import { KINDS } from "../../domain/kinds/kinds.ts";
import type { AddCommand } from "../command/command.ts";
import { outputOption, outputText, type StructuredFormat } from "../output/output.ts";
import { findOne, wantedOf } from "../source/find-one.ts";
import { KIND_WORDS, kindOf, PLURALS, unknownKind } from "../source/kind-words.ts";
import { openSource, type SourceFlags, sourceOptions } from "../source/open-source.ts";
import { type ListedEvent, type ListedObject, listedKeyId, type Source } from "../source/source.ts";
import { describeObject } from "./describe-object.ts";

type Flags = SourceFlags & { readonly namespace?: string; readonly output?: StructuredFormat };

export const addDescribe: AddCommand = (program, { env, out }) => {
  sourceOptions(
    program
      .command("describe")
      .description("show one object: conditions, versions, what to do next, recent events")
      .argument("<kind>", `${PLURALS}, or the singular`)
      .argument("<name>", "NAME, NAMESPACE/NAME or a key's id"),
  )
    .option("-n, --namespace <name>", "its namespace, where the name is ambiguous")
    .addOption(outputOption())
    .suggest(...KINDS.map((kind) => KIND_WORDS[kind][1]))
    .example("keyplane describe key team-a/reader --data .keyplane", "a key of keyplane up")
    .example("keyplane describe gateway main -n team-a --kubeconfig ~/.kube/config", "a gateway of a cluster")
    .action(async (word: string, named: string, { namespace, output, ...flags }: Flags) => {
      const kind = kindOf(word);
      if (kind === undefined) throw unknownKind("describe", word);
      const wanted = wantedOf(named, namespace);
      const source = await openSource(env, flags);
      try {
        const object = await findOne(source, kind, wanted);
        const events = await eventsOf(source, object);
        out(
          output === undefined
            ? describeObject(
                { ...object, callers: await callersOf(source, object), budgets: await budgetsOf(source, object) },
                events,
                Date.now(),
              )
            : outputText({ object: object.json, events: Array.isArray(events) ? events : null }, output),
        );
      } finally {
        source.close();
      }
    });
};

/** Asks which networks a key was called from; undefined if that cannot be asked, in which case the events say why. */
async function callersOf(source: Source, { callers, ...object }: ListedObject): Promise<ListedObject["callers"]> {
  const id = listedKeyId(object);
  return callers ?? (id === undefined ? undefined : source.callers(id).catch(() => undefined));
}

/**
 * Asks how far the object's budgets are used, including those from policies and shared ones; undefined if that cannot
 * be asked.
 */
async function budgetsOf(source: Source, object: ListedObject): Promise<ListedObject["budgets"]> {
  const { kind, status } = object;
  const keyId = listedKeyId(object);
  if (keyId !== undefined) return source.budgets("keys", keyId).catch(() => undefined);
  const teamId = kind === "PlatformTeam" && status !== undefined && "teamID" in status ? status.teamID : undefined;
  return teamId === undefined ? undefined : source.budgets("teams", teamId).catch(() => undefined);
}

/** Reads the events of an object, or why they cannot be read: the object is described without them then. */
async function eventsOf(
  source: Source,
  { kind, metadata, status }: ListedObject,
): Promise<readonly ListedEvent[] | string> {
  const { namespace, name } = metadata;
  const id = listedKeyId({ status });
  return source
    .events({ kind, name, ...(namespace !== "" && { namespace }), ...(id !== undefined && { id }) })
    .catch((error: unknown) => errorMessage(error));
}
