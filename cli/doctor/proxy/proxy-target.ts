import type { Environment } from "../../../domain/environment.ts";
import { redactKeys } from "../../../domain/redact.ts";
import { port } from "../../../runtime/common-settings.ts";
import { setting } from "../../../runtime/settings.ts";
import { UsageError } from "../../command/usage-error.ts";
import { plainUrl } from "../../management/api-call.ts";
import { readKeyFile } from "../../management/key-client.ts";

type ProxyFlags = { readonly authzEcho?: string; readonly keyFile?: string };

/**
 * Reads the proxy to check, and the key for it.
 *
 * @throws UsageError for what is no URL, port or key, and for a flag that says more about no proxy
 */
export async function proxyTarget(authz: string | undefined, { authzEcho, keyFile }: ProxyFlags, env: Environment) {
  if (authz === undefined) {
    const [alone] = [authzEcho && "--authz-echo", keyFile && "--key-file"].filter(Boolean);
    if (alone !== undefined) throw new UsageError(`${alone}: give it together with --authz URL`);
    return undefined;
  }
  const url = plainUrl("authz", authz);
  if (redactKeys(url.href) !== url.href) {
    throw new UsageError("--authz: a key belongs in no URL: give it by --key-file FILE. Nothing was sent");
  }
  const echoPort = authzEcho === undefined ? undefined : port(authzEcho);
  if (authzEcho !== undefined && !echoPort) {
    throw new UsageError("--authz-echo: must be a port, from 1 to 65535");
  }
  const file = setting(env, "key-file", keyFile);
  return { url, echoPort, key: file === undefined ? undefined : await readKeyFile(file) };
}
