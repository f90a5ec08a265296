import { Option } from "commander";
import { isRecord } from "../domain/manifest/document/identity.ts";
import { containsKey } from "../domain/redact.ts";
import type { AuditJson } from "../server/management/audit/audit-json.ts";
import type { AddCommand } from "./command/command.ts";
import { parseMoment } from "./command/since.ts";
import { UsageError } from "./command/usage-error.ts";
import { type AuditFilter, openManagement, type ServerChoice, serverOptions } from "./management/management-client.ts";
import { type StructuredFormat, streamedText } from "./output/output.ts";
import { formatTable } from "./output/table.ts";

type Flags = ServerChoice &
  Pick<AuditFilter, "team" | "actor" | "action" | "about"> & {
    readonly since?: string;
    readonly until?: string;
    readonly limit: string;
    readonly output: "table" | StructuredFormat;
  };

export const addAudit: AddCommand = (program, { env, out, progress }) => {
  serverOptions(
    program.command("audit").description("search the audit log (who did what, from where, why), the latest first"),
  )
    .option("--about <text>", "a key's prefix, an id or a name")
    .option("--action <action>", "the action, such as key.revoked")
    .option("--actor <actor>", "the actor, as the log names it")
    .option("--team <team>", "the team, by name or id")
    .option("--since <when>", "the start: a duration such as 24h, or a time")
    .option("--until <when>", "the end")
    .option("--limit <number>", "the most events; 0 for all", "100")
    .addOption(
      new Option("-o, --output <format>", "the output format; json is a line per event")
        .choices(["table", "json", "yaml"])
        .default("table"),
    )
    .example("keyplane audit --since 24h --data .keyplane", "the last day")
    .example("keyplane audit --action key.revoked --team team-a -o json --limit 0", "all revocations, for a program")
    .action(async ({ since, until, limit, output, team, actor, action, about, ...choice }: Flags) => {
      const now = Date.now();
      const [from, to] = [parseMoment("--since", since, now), parseMoment("--until", until, now)];
      const max = parseLimit(limit);
      if (about !== undefined && containsKey(about)) {
        throw new UsageError("--about takes no more of a key than its first 12 characters, which lists show");
      }
      const client = await openManagement(env, choice);
      const events = client.searchAudit({ team, actor, action, about, from, to }, max);
      if (output === "table") {
        out(auditTable(await progress.during("searching the audit log", () => Array.fromAsync(events))));
      } else for await (const event of events) out(streamedText(event, output));
    });
};

/**
 * Parses `--limit`; 0 stands for no limit.
 *
 * @throws UsageError if the text is not a number
 */
function parseLimit(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`--limit ${text}: write a number, or 0 for all`);
  return Number(text) || Number.POSITIVE_INFINITY;
}

function auditTable(events: readonly AuditJson[]): string {
  if (events.length === 0) return "nothing was found";
  return formatTable(
    ["TIME", "ACTION", "ABOUT", "TEAM", "BY", "DETAIL"],
    events.map((event) => [
      event.at,
      event.action,
      [event.namespace, event.name ?? event.keyId].filter(Boolean).join("/") || "-",
      event.team ?? "-",
      event.actor,
      detailText(event.detail) || "-",
    ]),
  );
}

/** Fields of an event's details that the table leaves out: another column shows them, or they are long. */
const ELSEWHERE = new Set(["id", "name", "namespace", "cluster", "uid", "userAgent"]);

/** Returns the details of an event in short; `-o json` has all of them. */
function detailText(detail: AuditJson["detail"]): string {
  return Object.entries(detail)
    .filter(([name, value]) => !ELSEWHERE.has(name) && value !== null)
    .map(([name, value]) => `${name}=${valueText(value)}`)
    .join(" ");
}

function valueText(value: unknown): string {
  if (isRecord(value)) return Object.keys(value).join(",");
  return typeof value === "string" && /^\S+$/.test(value) ? value : JSON.stringify(value);
}
