/** What the commands read of the process's environment: nowhere else does `cli/` look at it. */
import { readFile } from "node:fs/promises";
import { type Environment, withoutServiceLinks } from "../../domain/environment.ts";
import { setting } from "../../runtime/settings.ts";
import { unreadableBecause } from "../../runtime/unreadable-because.ts";
import { KeyringError } from "../../store/database/errors.ts";
import { type Keyring, parseKeyring } from "../../store/encryption/keyring.ts";
import { UsageError } from "./usage-error.ts";

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** The process's environment. */
export function environment(): Environment {
  return withoutServiceLinks(process.env);
}

/** The variable that holds the encryption keys themselves, as help has it. */
export const ENCRYPTION_KEY = [
  "KEYPLANE_ENCRYPTION_KEY",
  "the encryption keys, instead of --encryption-key-file",
] as const;

/**
 * The encryption keys, from `--encryption-key-file` or `KEYPLANE_ENCRYPTION_KEY`.
 *
 * @returns undefined where neither is given
 * @throws UsageError where the file cannot be read, or there is something else in it
 */
export async function encryptionKeys(env: Environment, file: string | undefined): Promise<Keyring | undefined> {
  const path = setting(env, "encryption-key-file", file);
  const text = path === undefined ? env[ENCRYPTION_KEY[0]] : await readFlagFile("encryption-key-file", path);
  if (!text && path === undefined) return undefined;
  try {
    return parseKeyring(text ?? "");
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    const where = path === undefined ? ENCRYPTION_KEY[0] : `--encryption-key-file ${path}`;
    throw new UsageError(`${where}: ${error.message}`);
  }
}

/**
 * The same for callers that need the keys.
 *
 * @throws UsageError also where none is given
 */
export async function requiredEncryptionKeys(env: Environment, file: string | undefined): Promise<Keyring> {
  const keyring = await encryptionKeys(env, file);
  if (keyring !== undefined) return keyring;
  throw new UsageError("give the encryption keys: --encryption-key-file FILE, or KEYPLANE_ENCRYPTION_KEY");
}

/**
 * The text of a file that a flag names, or its variable.
 *
 * @throws UsageError where it cannot be read
 */
export async function readFlagFile(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`--${flag} ${path}: ${unreadableBecause(error)}`);
  }
}

/**
 * The namespaces that are served; null for all.
 *
 * @throws UsageError for a list that names none
 */
export function namespaceList(text: string | undefined): string[] | null {
  if (text === undefined) return null;
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => DNS_LABEL.test(name))) return [...new Set(names)];
  throw new UsageError(`--namespaces: write names of namespaces, separated by commas, instead of "${text}"`);
}

/**
 * The name of a Lease that was given, if one was.
 *
 * @throws UsageError for what cannot be one's
 */
export function leaseNameIn(text: string | undefined): string | undefined {
  if (text === undefined || (text.length <= 253 && text.split(".").every((label) => DNS_LABEL.test(label))))
    return text;
  throw new UsageError(`--lease-name: write lower-case letters, digits, "-" and "." instead of "${text}"`);
}
