import { gatewayUrl, SDK_VARIABLES } from "../../domain/key/secret/sdk-variables.ts";
import type { ListedObject } from "../source/source.ts";

/** Environment variables for a key, by what they hold. */
export type KeyVariables = {
  /** Values of the variables with URLs, by name. */
  readonly urls: Readonly<Record<string, string>>;
  /** Names of the variables that hold the key. */
  readonly keys: readonly string[];
  /** Names of the variables that an SDK would take for the key before its own. */
  readonly unset: readonly string[];
};

/**
 * Returns the variables of the Secret template `Env`. Of the SDKs, those are included whose dialects the gateway's
 * upstreams have.
 *
 * @param gateway gateway of the key; undefined for none
 * @param publicUrl URL at which clients reach the server
 * @throws Error for a gateway that has no public id yet
 */
export function variablesOf(gateway: ListedObject<"ModelGateway"> | undefined, publicUrl: string): KeyVariables {
  const own = { urls: { KEYPLANE_BASE_URL: publicUrl }, keys: ["KEYPLANE_API_KEY"], unset: [] };
  if (gateway === undefined) return own;
  const { namespace, name } = gateway.metadata;
  const publicId = gateway.status?.publicID;
  if (publicId === undefined) {
    throw new Error(
      `gateway ${namespace}/${name} has no public id yet: see keyplane describe gateway ${namespace}/${name}`,
    );
  }
  const url = gatewayUrl(publicUrl, publicId);
  const dialects = new Set<string>(gateway.spec?.upstreams?.map(({ dialect }) => dialect));
  const sdks = Object.entries(SDK_VARIABLES).flatMap(([dialect, sdk]) => (dialects.has(dialect) ? [sdk] : []));
  return {
    urls: { ...own.urls, ...Object.fromEntries(sdks.map(({ baseUrl, path }) => [baseUrl, `${url}${path}`])) },
    keys: [...own.keys, ...sdks.map((sdk) => sdk.key)],
    unset: sdks.flatMap(({ readFirst }) => readFirst ?? []),
  };
}
