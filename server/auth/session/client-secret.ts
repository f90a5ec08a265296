import { readFile } from "node:fs/promises";
import { ConfigError, type ConsoleClient } from "../../config.ts";

/**
 * Reads the secret of a client at an issuer.
 *
 * @throws ConfigError for a file that cannot be read, or holds nothing
 */
export async function readClientSecret(file: string): Promise<string> {
  const secret = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([`--oidc-client-secret-file: ${file} cannot be read (${error.code ?? "unknown"})`]);
  });
  if (secret.trim() === "") throw new ConfigError([`--oidc-client-secret-file: ${file} holds no secret`]);
  return secret.trim();
}

/** @throws ConfigError where a client's secret cannot be had at the start */
export async function assertClientSecrets(clients: readonly ConsoleClient[]): Promise<void> {
  for (const { secretFile } of clients) if (secretFile !== null) await readClientSecret(secretFile);
}
