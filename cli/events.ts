import { Option } from "commander";
import type { AddCommand } from "./command/command.ts";
import { parseMoment } from "./command/since.ts";
import { ageText } from "./output/age.ts";
import { type StructuredFormat, streamedText } from "./output/output.ts";
import { formatTable } from "./output/table.ts";
import {
  findOne,
  type NamespaceFlags,
  namespaceIn,
  namespaceOptions,
  requireSome,
  wantedOf,
} from "./source/find-one.ts";
import { openSource, type SourceFlags, sourceOptions } from "./source/open-source.ts";
import type { ListedEvent } from "./source/source.ts";

type Flags = SourceFlags &
  NamespaceFlags & {
    readonly since?: string;
    readonly output: "table" | StructuredFormat;
  };

/** Default period, as long as Kubernetes itself keeps events. */
const USUAL_SINCE = "1h";

export const addEvents: AddCommand = (program, { env, out }) => {
  const command = sourceOptions(
    program
      .command("events")
      .description("show events of keys, teams, gateways and libraries, the latest last")
      .argument("[key]", "a key's NAME, NAMESPACE/NAME or id, for its events"),
  );
  namespaceOptions(command)
    .option("--since <when>", `the start, a duration or a time (default ${USUAL_SINCE}; of one key: all that is kept)`)
    .addOption(
      new Option("-o, --output <format>", "the output format; json is a line per event")
        .choices(["table", "json", "yaml"])
        .default("table"),
    )
    .example("keyplane events team-a/reader --data .keyplane", "a key of keyplane up")
    .example("keyplane events -n team-a --since 24h --kubeconfig ~/.kube/config", "the last day of a namespace")
    .action(async (named: string | undefined, { since, output, ...flags }: Flags) => {
      const now = Date.now();
      const wanted = wantedOf(named, namespaceIn(flags));
      const from = parseMoment("--since", since ?? (named === undefined ? USUAL_SINCE : undefined), now);
      const source = await openSource(env, flags);
      try {
        const kind = named === undefined ? undefined : "PlatformKey";
        const key = wanted.id === undefined ? undefined : await findOne(source, "PlatformKey", wanted);
        const { namespace, name } = key?.metadata ?? wanted;
        const events = await source.events({ namespace, name, id: wanted.id, kind, from });
        if (kind !== undefined && events.length === 0) await requireSome(source, kind, wanted);
        if (output === "table") out(eventTable(events, now));
        else for (const event of events) out(streamedText(event, output));
      } finally {
        source.close();
      }
    });
};

function eventTable(events: readonly ListedEvent[], now: number): string {
  if (events.length === 0) return "nothing was found";
  return formatTable(
    ["NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"],
    events.map(({ at, type, reason, kind, namespace, name, message, count }) => [
      namespace || "-",
      ageText(at, now),
      type,
      reason,
      `${kind.toLowerCase()}/${name}`,
      count > 1 ? `${message} (${count} times)` : message,
    ]),
  );
}
