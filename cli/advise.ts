import { Option } from "commander";
import type { AdviceJson } from "../server/management/keys/access/key-advice.ts";
import type { KeyJson } from "../server/management/keys/shown/key-json.ts";
import type { AddCommand } from "./command/command.ts";
import { UsageError } from "./command/usage-error.ts";
import { openManagement, type ServerChoice, serverOptions } from "./management/management-client.ts";
import { findNamedKey, NAMED_KEY } from "./management/named-key.ts";
import { findNamedTeam } from "./management/named-team.ts";
import { outputText } from "./output/output.ts";

type Flags = ServerChoice & { readonly team?: string; readonly output: "yaml" | "json" };

/** Adds `keyplane advise`, which prints what the console shows under `Advice` on a key's page. It changes nothing. */
export const addAdvise: AddCommand = (program, { env, out, progress }) => {
  serverOptions(
    program
      .command("advise")
      .description("print a manifest with the least rights that cover a key's use of the last 30 days")
      .argument("[key]", NAMED_KEY),
  )
    .option("--team <team>", "all keys of this team")
    .addOption(new Option("-o, --output <format>", "the output format").choices(["yaml", "json"]).default("yaml"))
    .example("keyplane advise research/agent --data .keyplane", "narrower scopes and limits for a key, and why")
    .example("keyplane advise --team research --data .keyplane", "all keys of a team, including unused ones")
    .action(async (named: string | undefined, { team, output, ...flags }: Flags) => {
      if ((named === undefined) === (team === undefined)) {
        throw new UsageError("say whose use is meant: a key, or --team for all keys of a team");
      }
      const client = await openManagement(env, flags);
      const keys =
        named === undefined
          ? (await client.listKeys({ team })).filter(({ state }) => state !== "revoked")
          : [await findNamedKey(client, named)];
      if (team !== undefined && keys.length === 0) await findNamedTeam(client, team);
      const all: AdviceJson[] = [];
      await progress.during("reading the use of keys", async () => {
        for (const key of keys) all.push(await client.adviseKey(requireAdvice(key).id));
      });
      if (output === "json") return out(outputText(named === undefined ? { items: all } : (all[0] ?? {}), "json"));
      out(all.map(({ manifest }) => manifest.trimEnd()).join("\n---\n") || `# Team ${team} has no keys.`);
    });
};

/**
 * Returns the key if its server can advise on it.
 *
 * @throws Error for a key shown by a server of an earlier version, which cannot tell what would have been enough
 */
function requireAdvice(key: KeyJson): KeyJson {
  if ("lastNetworks" in key) return key;
  throw new Error("the server is of an earlier version, which advises nothing: upgrade it first");
}
