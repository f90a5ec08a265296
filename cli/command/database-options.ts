/** Flags that locate the PostgreSQL database. */
import type { Environment } from "../../domain/environment.ts";
import { setting, variableOf } from "../../runtime/settings.ts";
import { DatabaseLocationError } from "../../store/database/errors.ts";
import { connectionConfig, type DatabaseLocation } from "../../store/database/postgres/connection-config.ts";
import type { CliCommand } from "./cli-command.ts";
import { UsageError } from "./usage-error.ts";

export type DatabaseFlags = {
  readonly databaseUrl?: string | undefined;
  readonly databaseUrlFile?: string | undefined;
  readonly databasePasswordFile?: string | undefined;
  readonly databaseCaFile?: string | undefined;
};

/** Adds the flags of every command that uses PostgreSQL: see {@link requiredDatabase}. */
export function databaseOptions(command: CliCommand): CliCommand {
  return command
    .setting("--database-url <url>", "the PostgreSQL database; a remote one over verified TLS unless sslmode=disable")
    .setting("--database-url-file <file>", "a file with the URL, read for each new connection")
    .setting("--database-password-file <file>", "a file with the password, read likewise")
    .setting("--database-ca-file <file>", "trusted CAs of its certificate in PEM, read likewise", "those of Node");
}

/** True if a flag or a variable names the database. */
export function namesDatabase(env: Environment, flags: DatabaseFlags): boolean {
  return urlsOf(env, flags).some((given) => given !== undefined);
}

/**
 * Returns the location of the PostgreSQL database. A flag for the URL, or for its file, wins over a variable for
 * either.
 *
 * @throws UsageError if none is given, two contradict each other, a file cannot be read, or the URL is invalid. The URL
 *   is not shown, since it may hold a password
 */
export function requiredDatabase(env: Environment, flags: DatabaseFlags): DatabaseLocation {
  const [url, file] = urlsOf(env, flags);
  if (url !== undefined && file !== undefined) {
    throw new UsageError(
      "give --database-url (KEYPLANE_DATABASE_URL) or --database-url-file (KEYPLANE_DATABASE_URL_FILE), not both",
    );
  }
  const location = {
    url: file === undefined ? present(url) : { file },
    passwordFile: setting(env, "database-password-file", flags.databasePasswordFile),
    caFile: setting(env, "database-ca-file", flags.databaseCaFile),
  };
  try {
    connectionConfig(location);
    return location;
  } catch (error) {
    if (!(error instanceof DatabaseLocationError)) throw error;
    throw new UsageError(`${nameOf(file === undefined ? "database-url" : "database-url-file")}: ${error.message}`);
  }
}

const nameOf = (flag: string) => `--${flag}, or ${variableOf(flag)}`;

/** Returns the URL, and the file that holds it; at most one should be given. */
function urlsOf(env: Environment, { databaseUrl, databaseUrlFile }: DatabaseFlags) {
  const variables = databaseUrl === undefined && databaseUrlFile === undefined ? env : {};
  return [
    setting(variables, "database-url", databaseUrl),
    setting(variables, "database-url-file", databaseUrlFile),
  ] as const;
}

function present(url: string | undefined): string {
  if (url !== undefined) return url;
  throw new UsageError(`--database-url is needed, or --database-url-file, or ${variableOf("database-url")}`);
}
