import { LISTENER_SETTINGS } from "../../server/context/settings.ts";
import type { CliCommand } from "./cli-command.ts";

/**
 * Adds the flags of every command that serves.
 *
 * @param defaultHost default address of the public listener, in words
 */
export function listenerOptions(command: CliCommand, defaultHost = "127.0.0.1"): CliCommand {
  return command.settings({ ...LISTENER_SETTINGS, host: { ...LISTENER_SETTINGS.host, otherwise: defaultHost } });
}
