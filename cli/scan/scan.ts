import { counted } from "../../domain/counted.ts";
import { setting } from "../../runtime/settings.ts";
import type { LeakJson } from "../../server/leaks/leak-json.ts";
import type { AddCommand, Process } from "../command/command.ts";
import {
  type ManagementClient,
  openManagement,
  type ServerChoice,
  serverOptions,
} from "../management/management-client.ts";
import { outputOption, outputText, type StructuredFormat } from "../output/output.ts";
import { assertPresent } from "../validate/manifest-files.ts";
import type { FoundKey } from "./key-finder.ts";
import { lookInto } from "./scan-paths.ts";

/** Number of keys in one request to the server: the most that it accepts. */
const BATCH = 100;

export const addScan: AddCommand = (program, { env, out, exit, progress }) => {
  serverOptions(
    program
      .command("scan")
      .description("find keys in files by format and checksum; with --data or --server, say which work")
      .example("keyplane scan src", "search a folder recursively")
      .example("git log -p | keyplane scan - --data .keyplane", "search a Git history, and say which keys work")
      .argument("[paths...]", "files and folders; - is standard input (default: this folder)"),
  )
    .addOption(outputOption())
    .action(async (named, flags) => {
      const paths = named.length === 0 ? ["."] : named;
      assertPresent(paths, "");
      const asks = (["server", "data"] as const).some((flag) => setting(env, flag, flags[flag]) !== undefined);
      const client = asks ? await openManagement(env, flags satisfies ServerChoice) : undefined;
      await progress.during("looking into files", (show) =>
        runScan({ paths, client, output: flags.output }, { out, exit }, show),
      );
    });
};

type Scan = {
  readonly paths: readonly string[];
  /** Client of the server; undefined if no server is asked. */
  readonly client: ManagementClient | undefined;
  /** Output format; undefined for lines. */
  readonly output: StructuredFormat | undefined;
};

type KeyLocation = { readonly path: string } & FoundKey;

/**
 * Runs `keyplane scan`: one line for each location of a key. A server receives SHA-256 sums only, and changes nothing.
 * The exit code is 1 if a key was found, or a file could not be read.
 */
async function runScan(
  { paths, client, output }: Scan,
  { out, exit }: Pick<Process, "out" | "exit">,
  onProgress: (text: string) => void,
): Promise<void> {
  const findings: object[] = [];
  const unread: { path: string; why: string }[] = [];
  const keys = new Set<string>();
  const known = new Map<string, LeakJson>();
  let [locations, files] = [0, 0];
  let batch: KeyLocation[] = [];

  async function reportBatch(): Promise<void> {
    const asked = [...new Set(batch.map(({ sha256 }) => sha256))].filter((sha256) => !known.has(sha256));
    const leaks = asked.length === 0 ? [] : ((await client?.askLeaks(asked)) ?? []);
    for (const [i, leak] of leaks.entries()) known.set(asked[i] ?? "", leak);
    for (const location of batch) {
      const leak = known.get(location.sha256);
      if (output !== undefined) findings.push(jsonOf(location, leak));
      else out(lineOf(location, leak));
    }
    batch = [];
  }

  for await (const look of lookInto(paths)) {
    if ("why" in look) unread.push(look);
    else if ("done" in look) onProgress(`${counted(++files, "file")} looked into`);
    else {
      locations++;
      keys.add(look.sha256);
      batch.push(look);
      if (batch.length === BATCH || client === undefined) await reportBatch();
    }
  }
  await reportBatch();
  if (output !== undefined) out(outputText({ findings, unread }, output));
  else {
    for (const { path, why } of unread) out(`${path}: could not be read: ${why}`);
    out(`${counted(keys.size, "key")} in ${counted(locations, "place")}, ${counted(files, "file")} looked into`);
  }
  if (locations > 0 || unread.length > 0) exit(1);
}

function lineOf({ path, line, column, prefix }: KeyLocation, leak: LeakJson | undefined): string {
  const location = `${path}:${line}:${column}: ${prefix}...`;
  if (leak === undefined) return location;
  if (leak.state === "unknown") return `${location} is unknown: not a key of your teams`;
  const { namespace, name, team, keyId, version, state } = leak;
  return `${location} is ${state}: version ${version} of ${namespace ? `${namespace}/` : ""}${name} (${keyId}), team ${team}`;
}

function jsonOf({ path, line, column, prefix }: KeyLocation, leak: LeakJson | undefined): object {
  if (leak === undefined) return { path, line, column, prefix };
  const { state, keyId, version, name, namespace, team, teamId, leakedAt } = leak;
  return { path, line, column, prefix, state, keyId, version, name, namespace, team, teamId, leakedAt };
}
