import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import type { Environment } from "../../domain/environment.ts";
import { distrustOf } from "../../runtime/distrust.ts";
import { setting } from "../../runtime/settings.ts";
import { type CliCommand, SettingOption } from "../command/cli-command.ts";
import { UsageError } from "../command/usage-error.ts";
import { bootstrapTokenFile } from "./data-folder.ts";

type NamedFile = { readonly flag: string; readonly path: string };

/**
 * Refuses a file from a command's flags, or their variables, that another user can change: its content decides which
 * prices, authorities and tokens apply (threats b327).
 *
 * @param warn called with a line for each such file that is accepted nevertheless, since containers mount files so
 * @throws UsageError
 */
export function assertTrustedFiles(command: CliCommand, env: Environment, warn: (line: string) => void): void {
  for (const { flag, path } of command.options.flatMap((option) => filesOf(option, command, env))) {
    // The data folder is closed by keyplane up (threats b326), and doctor says where it is open.
    const distrust = distrustOf(path, undefined, flag !== "data");
    if (distrust === undefined) continue;
    const line = `--${flag} ${path}: ${distrust.why}`;
    if (distrust.isRefused) throw new UsageError(`${line}: name a copy of your own that only you can write`);
    // Root looks at the folders of those who run keyplane up.
    if (flag !== "data") warn(line);
  }
}

function filesOf(option: CliCommand["options"][number], command: CliCommand, env: Environment): NamedFile[] {
  if (!(option instanceof SettingOption)) return [];
  const flag = option.name();
  const given: unknown = command.getOptionValue(option.attributeName());
  const value = setting(env, flag, typeof given === "string" ? given : undefined);
  if (value === undefined) {
    // As client libraries of Kubernetes read it, where they are left to look.
    const isLookedFor = flag === "kubeconfig" && command.name() === "controller";
    return isLookedFor ? (env.KUBECONFIG ?? "").split(delimiter).map((path) => ({ flag, path })) : [];
  }
  return pathsIn(option.flags, value).map((path) => ({ flag, path }));
}

/**
 * Returns the paths in a flag's value.
 *
 * @param flags the flag as help shows it, which says what its value is
 */
function pathsIn(flags: string, value: string): string[] {
  if (flags === "--data <dir>") return [bootstrapTokenFile(value)];
  if (flags === "--database-url <url>") return filesOfUrl(value);
  if (flags === "--database-url-file <file>") return [value, ...filesOfUrl(textOf(value))];
  if (flags.endsWith("<files>")) return value.split(",").map((path) => path.trim());
  return flags.endsWith("<file>") ? [value] : [];
}

/** Returns the files that a database's URL names for TLS: trusted authorities, certificate and key. */
function filesOfUrl(url: string): string[] {
  const parameters = new URLSearchParams(url.slice(url.indexOf("?") + 1).trim());
  return ["sslrootcert", "sslcert", "sslkey"].flatMap((name) => parameters.getAll(name));
}

/** Reads a file; empty if it cannot be read, which the command itself reports. */
function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
