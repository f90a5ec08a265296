import type { Environment } from "../../../../domain/environment.ts";
import type { Api } from "../api/api.ts";
import type { Say } from "./engine-log.ts";

/** What the provider stands on. */
export type ProviderDeps = {
  readonly env: Environment;
  readonly say: Say;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};

/** What one process of the provider works with, and what it has learned so far. */
export type ProviderSession = ProviderDeps & {
  /** Undefined before the provider is configured, and where its configuration is not known yet. */
  api: Api | undefined;
  /** The engine's reference to this provider, where it says it. */
  reference: string | undefined;
  /** What this process has found instead of making it: by a killed `up`, or by the very resource that is replaced. */
  readonly adopted: Set<string>;
  /**
   * The ids that the engine has asked about since its state has them, and those of them that are not to be replaced.
   */
  readonly own: Set<string>;
  readonly staying: Set<string>;
};

const PREVIEW_ONLY = "the provider's configuration is known only after another resource is made: run `pulumi up`";

export function openSession(deps: ProviderDeps): ProviderSession {
  return { ...deps, api: undefined, reference: undefined, adopted: new Set(), own: new Set(), staying: new Set() };
}

/** The API that the provider was configured for. */
export function connected({ api }: ProviderSession): Api {
  if (api === undefined) throw new Error(PREVIEW_ONLY);
  return api;
}
