import { ConfigError } from "../../../runtime/settings.ts";
import type { ConsoleClient } from "../../context/config.ts";
import { readConfiguredFile } from "../../context/configured-file.ts";

/**
 * Reads the secret of a client at an issuer.
 *
 * @throws ConfigError for a file that cannot be read, or holds nothing
 */
export async function readClientSecret(file: string): Promise<string> {
  const secret = (await readConfiguredFile("--oidc-client-secret-file", file)).toString().trim();
  if (secret === "") throw new ConfigError([`--oidc-client-secret-file: ${file} holds no secret`]);
  return secret;
}

/**
 * Reads the secrets of clients, to fail at the start.
 *
 * @throws ConfigError if a client's secret cannot be read
 */
export async function assertClientSecrets(clients: readonly ConsoleClient[]): Promise<void> {
  for (const { secretFile } of clients) if (secretFile !== null) await readClientSecret(secretFile);
}
