/** Files that `keyplane up` keeps in its data folder for the other commands, and the check that it runs. */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { readJson, replaceFile, whenMissing } from "../../controller/cluster/files/disk.ts";
import { isLocked } from "../../controller/cluster/files/lock.ts";
import { UsageError } from "../command/usage-error.ts";

/** Contents of DATA/server.json, which a running `up` writes about itself. */
export type RunningServerFile = {
  readonly url: string;
  readonly adminUrl: string;
  /** Folder of declarations. */
  readonly manifests: string;
  /** File with its encryption keys; null if they are from a variable. */
  readonly encryptionKeyFile: string | null;
  /** Fingerprints of the encryption keys. */
  readonly encryptionKeys: readonly string[];
  /** Number of development keys from `PLATFORM_API_KEYS` that are served. */
  readonly placeholders: number;
};

const serverFile = (data: string): string => join(data, "server.json");
export const bootstrapTokenFile = (data: string): string => join(data, "bootstrap-token");
export const encryptionKeyFile = (data: string): string => join(data, "encryption-key");

export async function writeServerFile(data: string, server: RunningServerFile): Promise<void> {
  await replaceFile(serverFile(data), `${JSON.stringify(server, null, 2)}\n`);
}

export async function removeServerFile(data: string): Promise<void> {
  await rm(serverFile(data), { force: true });
}

/** Reads server.json; undefined if no `up` is ready on the folder, or it was killed before it wrote the file. */
export async function readServerFile(data: string): Promise<RunningServerFile | undefined> {
  return (await readJson(serverFile(data))) as RunningServerFile | undefined;
}

/**
 * True if a process uses the folder now. The lock shows it, since the kernel drops it with the process. A file may be
 * left behind, and its port may be another process's by now.
 *
 * @throws UsageError if there is no such folder, or it is not a data folder of `up`
 */
export async function isRunning(data: string): Promise<boolean> {
  await assertDataFolder(data);
  return isLocked(data);
}

/** Entries of every data folder once `up` has been started on it. */
const SIGNS = ["cluster-id", "db"];

/** True if a folder is a data folder of `up`: it has all of these entries. */
export function isDataFolder(path: string): boolean {
  return SIGNS.every((sign) => statSync(join(path, sign), { throwIfNoEntry: false }) !== undefined);
}

/**
 * Checks that a folder has one of these entries.
 *
 * @throws UsageError if there is no such folder, or it is not a data folder of `up`
 */
export async function assertDataFolder(data: string): Promise<void> {
  for (const sign of SIGNS) {
    if ((await stat(join(data, sign)).catch(whenMissing(undefined))) !== undefined) return;
  }
  throw new UsageError(`${data} is no data folder of keyplane up: name it with --data, and start keyplane up first`);
}

/**
 * Reads a secret of the installation. The first start makes it, in a file that no other user may read and that is
 * written whole or not at all. The caller holds the folder's lock.
 */
export async function readOrMakeSecret(file: string, make: () => string): Promise<string> {
  const known = await readFile(file, "utf8").catch(whenMissing(undefined));
  if (known !== undefined) return known.trim();
  const made = make();
  await replaceFile(file, `${made}\n`);
  return made;
}

/** Least length of a token. A shorter one has been tampered with, or its file was cut off by a crash. */
const LEAST_TOKEN_LENGTH = 32;

/**
 * Reads or makes the token that opens the management API of an embedded installation. It is no API key, and cannot be
 * taken for one.
 *
 * @throws Error if the file holds something else than a token
 */
export async function readOrMakeBootstrapToken(data: string): Promise<string> {
  const file = bootstrapTokenFile(data);
  const token = await readOrMakeSecret(file, () => `kpt_${randomBytes(32).toString("base64url")}`);
  if (token.length < LEAST_TOKEN_LENGTH || token.startsWith("inf_") || /[\s,]/.test(token)) {
    throw new Error(`${file} holds no token that keyplane made: delete it, and a new one is made at the next start`);
  }
  return token;
}
