/** What the commands read of the process's environment: nowhere else does `cli/` look at it. */
import { readFile } from "node:fs/promises";
import { type Environment, withoutServiceLinks } from "../domain/environment.ts";
import { UsageError } from "./usage-error.ts";

/** The process's environment. */
export function environment(): Environment {
  return withoutServiceLinks(process.env);
}

/** The value of a flag, or of its variable: `--database-url` is `KEYPLANE_DATABASE_URL`. */
export function setting(env: Environment, flag: string, given: string | undefined): string | undefined {
  return given ?? (env[variableOf(flag)] || undefined);
}

/** The variable of a flag, by its name without dashes before it. */
export function variableOf(flag: string): string {
  return `KEYPLANE_${flag.replaceAll("-", "_").toUpperCase()}`;
}

/** The variable that holds the encryption keys themselves, as help has it. */
export const ENCRYPTION_KEY = [
  "KEYPLANE_ENCRYPTION_KEY",
  "the encryption keys themselves, instead of --encryption-key-file",
] as const;

/**
 * The text of the encryption keys, from `--encryption-key-file` or `KEYPLANE_ENCRYPTION_KEY`.
 *
 * @returns undefined where neither is given
 */
export async function encryptionKeys(env: Environment, file: string | undefined): Promise<string | undefined> {
  const path = setting(env, "encryption-key-file", file);
  return path === undefined ? env.KEYPLANE_ENCRYPTION_KEY || undefined : readFile(path, "utf8");
}

/**
 * The URL of a PostgreSQL. What is wrong is not shown: it may hold a password.
 *
 * @throws UsageError for anything else
 */
export function postgresUrl(text: string): string {
  // A socket's folder comes as ?host=, and leaves the place of the host empty.
  if (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text.replace("@/", "@socket/"))) return text;
  throw new UsageError("--database-url: must be a URL such as postgres://keyplane@db.example.com:5432/keyplane");
}

/**
 * The namespaces that are served; null for all.
 *
 * @throws UsageError for a list that names none
 */
export function namespaceList(text: string | undefined): string[] | null {
  if (text === undefined) return null;
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))) return [...new Set(names)];
  throw new UsageError(`--namespaces: write names of namespaces, separated by commas, instead of "${text}"`);
}
