import { access, chmod, mkdir, realpath, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { closeOwnFolder } from "../../controller/cluster/files/own-folder.ts";

/** Variables with a provider's credential, as the provider's own SDK reads them, by the name of its example. */
export const CREDENTIAL_VARIABLES: ReadonlyMap<string, string> = new Map([
  ["openai", "OPENAI_API_KEY"],
  ["anthropic", "ANTHROPIC_API_KEY"],
  ["gemini", "GEMINI_API_KEY"],
]);

/**
 * Puts a provider's credential where `keyplane up` reads the Secret of its name in `research` from: a file of this
 * user's alone, in the data folder. If none is given, an earlier one stays.
 *
 * @param provider the name of its example, whose Secret no other example's gateway names
 * @returns true if there is a credential
 * @throws Error if the data folder is another user's, or others can write there
 */
export async function keepCredential(data: string, provider: string, given: string | undefined): Promise<boolean> {
  const folder = join(data, "secrets/research", provider);
  const file = join(folder, "api-key");
  const credential = given?.trim();
  if (!credential) {
    return access(file).then(
      () => true,
      () => false,
    );
  }
  // As `keyplane up` does, before anything is written there.
  await closeOwnFolder(await realpath(data).catch(() => data), () => {});
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // A running server that reads the file meanwhile has the old one, or the new one.
  await writeFile(`${file}.new`, credential, { mode: 0o600 });
  await chmod(`${file}.new`, 0o600);
  await rename(`${file}.new`, file);
  return true;
}
