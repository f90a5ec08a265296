import type { Environment } from "../../../../domain/environment.ts";
import type { Api } from "../api/api.ts";
import type { Say } from "./engine-log.ts";

/** Dependencies of the provider. */
export type ProviderDeps = {
  readonly env: Environment;
  readonly say: Say;
  /** Current time, in milliseconds since the epoch. */
  readonly now: () => number;
};

/** State of one process of the provider. */
export type ProviderSession = ProviderDeps & {
  /** Client of the API; undefined before the provider is configured, and while its configuration is not known yet. */
  api: Api | undefined;
  /** Engine's reference to this provider, if the engine sends it. */
  reference: string | undefined;
  /**
   * Ids of objects that this process found instead of making: made by a killed `up`, or the very object to be replaced.
   */
  readonly adopted: Set<string>;
  /**
   * Ids in the engine's state that it has asked about, each with its present URN; `staying` has those of them that are
   * not to be replaced.
   */
  readonly own: Map<string, string>;
  readonly staying: Set<string>;
};

const PREVIEW_ONLY = "the provider's configuration is known only after another resource is made: run `pulumi up`";

export function openSession(deps: ProviderDeps): ProviderSession {
  return { ...deps, api: undefined, reference: undefined, adopted: new Set(), own: new Map(), staying: new Set() };
}

/** Returns the API that the provider was configured for. */
export function connected({ api }: ProviderSession): Api {
  if (api === undefined) throw new Error(PREVIEW_ONLY);
  return api;
}
