import { readFile } from "node:fs/promises";
import type { Environment } from "../../domain/environment.ts";
import { hasCode } from "../../runtime/error-code.ts";
import { unreadableBecause } from "../../runtime/unreadable-because.ts";
import { KeyringError } from "../../store/database/errors.ts";
import { type Keyring, parseKeyring } from "../../store/encryption/keyring.ts";
import { encryptionKeyFile, readServerFile } from "../data/data-folder.ts";
import { type Finding, note, ok, wrong } from "./finding.ts";

/** Installation of `keyplane up`. */
export type Embedded = { readonly data: string; readonly env: Environment };

/** Checks that the encryption keys that the next start would find are those that the store needs (threats c54). */
export async function checkEncryptionKeyFile({ data, env }: Embedded): Promise<Finding[]> {
  const server = await readServerFile(data);
  const isGiven = Boolean(env.KEYPLANE_ENCRYPTION_KEY || env.KEYPLANE_ENCRYPTION_KEY_FILE);
  const file = server === undefined && !isGiven ? encryptionKeyFile(data) : server?.encryptionKeyFile;
  if (file === undefined || file === null) return [];
  const keyring = await readKeyring(file);
  if ("severity" in keyring) return [keyring];
  if (server === undefined) return [];
  const prints = keyring.map(({ fingerprint }) => fingerprint);
  if (prints.join() === server.encryptionKeys.join()) {
    return [ok("encryption-key", `${file} holds the keys that keyplane up runs with`)];
  }
  if (server.encryptionKeys.every((print) => prints.includes(print))) {
    return [note("encryption-key", `${file} has keys that keyplane up does not know yet`, "restart it")];
  }
  const message = `${file} holds other keys than keyplane up runs with, ${server.encryptionKeys.join(", ")}`;
  return [wrong("encryption-key", message, "put those back")];
}

const STEP = "put it back from a backup (or give another file that holds it, with --encryption-key-file)";

async function readKeyring(file: string): Promise<Keyring | Finding> {
  try {
    return parseKeyring(await readFile(file, "utf8"));
  } catch (error) {
    const why = error instanceof KeyringError ? error.message : unreadableBecause(error);
    const what = hasCode(error, "ENOENT") ? `${file} is missing` : `${file} cannot be used (${why})`;
    return wrong("encryption-key", `${what}, and keyplane up does not start without it`, STEP);
  }
}
