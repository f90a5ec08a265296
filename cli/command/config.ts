/** Settings that commands read from the environment. No other file of `cli/` reads it. */
import { readFile } from "node:fs/promises";
import { type Environment, withoutServiceLinks } from "../../domain/environment.ts";
import { setting } from "../../runtime/settings.ts";
import { unreadableBecause } from "../../runtime/unreadable-because.ts";
import { KeyringError } from "../../store/database/errors.ts";
import { type Keyring, parseKeyring } from "../../store/encryption/keyring.ts";
import { UsageError } from "./usage-error.ts";

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Returns the process's environment. */
export function environment(): Environment {
  return withoutServiceLinks(process.env);
}

/** Variable that holds the encryption keys themselves, and its text in help. */
export const ENCRYPTION_KEY = [
  "KEYPLANE_ENCRYPTION_KEY",
  "the encryption keys, instead of --encryption-key-file",
] as const;

/**
 * Reads the encryption keys from `--encryption-key-file` or `KEYPLANE_ENCRYPTION_KEY`.
 *
 * @returns undefined if neither is given
 * @throws UsageError if the file cannot be read, or holds something else
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
 * Reads the encryption keys for callers that need them.
 *
 * @throws UsageError also if none are given
 */
export async function requiredEncryptionKeys(env: Environment, file: string | undefined): Promise<Keyring> {
  const keyring = await encryptionKeys(env, file);
  if (keyring !== undefined) return keyring;
  throw new UsageError("give the encryption keys: --encryption-key-file FILE, or KEYPLANE_ENCRYPTION_KEY");
}

/**
 * Reads the file that a flag, or its variable, names.
 *
 * @throws UsageError if it cannot be read
 */
export async function readFlagFile(flag: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`--${flag} ${path}: ${unreadableBecause(error)}`);
  }
}

/**
 * Parses the namespaces that are served; null for all.
 *
 * @throws UsageError for a list with an invalid name
 */
export function namespaceList(text: string | undefined): string[] | null {
  if (text === undefined) return null;
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => DNS_LABEL.test(name))) return [...new Set(names)];
  throw new UsageError(`--namespaces: write names of namespaces, separated by commas, instead of "${text}"`);
}

/**
 * Checks the name of a Lease, if one is given.
 *
 * @throws UsageError for an invalid name
 */
export function leaseNameIn(text: string | undefined): string | undefined {
  if (text === undefined || (text.length <= 253 && text.split(".").every((label) => DNS_LABEL.test(label))))
    return text;
  throw new UsageError(`--lease-name: write lower-case letters, digits, "-" and "." instead of "${text}"`);
}
