import { readFile } from "node:fs/promises";
import { ConfigError } from "../../runtime/settings.ts";

/**
 * Reads a file that a flag names.
 *
 * @throws ConfigError for a file that cannot be read
 */
export async function readConfiguredFile(flag: string, file: string): Promise<Buffer> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([`${flag}: ${file} cannot be read (${error.code ?? "unknown"})`]);
  });
}
