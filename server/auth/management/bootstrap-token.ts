/** Token of `--bootstrap-token-file`: it begins an installation, and ends keys when no issuer can be asked. */
import type { Logger } from "../../../runtime/log.ts";
import type { ServerConfig } from "../../context/config.ts";
import type { InstallationRole } from "../principal.ts";
import { openFileToken } from "./file-token.ts";
import type { ManagementToken } from "./management-token.ts";

type BootstrapToken = ManagementToken & { close(): void };

/**
 * Opens the configured bootstrap token. It may do less if an issuer is configured: the issuer's tokens may do the rest.
 *
 * @param log logs changes and faults of the file; left out in all threads but one
 * @returns undefined if none is configured
 * @throws ConfigError as {@link openBootstrapToken}
 */
export async function openConfiguredToken(config: TokenConfig, log?: Logger): Promise<BootstrapToken | undefined> {
  if (config.bootstrapTokenFile === null) return undefined;
  return openBootstrapToken(config.bootstrapTokenFile, config.oidc === null ? "bootstrap" : "emergency", log);
}

type TokenConfig = Pick<ServerConfig, "oidc" | "bootstrapTokenFile">;

/** @throws ConfigError if the file holds none at the start */
async function openBootstrapToken(file: string, role: InstallationRole, log?: Logger): Promise<BootstrapToken> {
  const token = await openFileToken(file, { flag: "--bootstrap-token-file", token: "bootstrap token" }, log);
  return {
    actor: "bootstrap-token",
    role,
    get digest() {
      return token.digest;
    },
    close: () => token.close(),
  };
}
