/** One application's keys for development, staging and production, with no more rights than each of them needs. */
import { ComponentResource, type ComponentResourceOptions, type Input, type Output, output } from "@pulumi/pulumi";
import type { Preset, Scope } from "../../domain/access/scopes.ts";
import { effectiveScopes } from "../../domain/key/effective.ts";
import { suggest } from "../../domain/manifest/suggestion.ts";
import type { PlatformKeyArgs } from "./generated/types.ts";
import { PlatformKey } from "./resources.ts";

export const ENVIRONMENTS = ["dev", "staging", "production"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/**
 * What may be said of one environment's key: all of a key but whose it is. It counts before what the component says.
 */
export type EnvironmentArgs = Partial<Omit<PlatformKeyArgs, "team" | "namespace" | "scopes" | "preset">> & {
  readonly scopes?: readonly Scope[];
};

export type EnvironmentKeysArgs = {
  /** The team that the keys belong to. */
  readonly team: Input<string>;
  /** What the application needs; `memory:read` where neither this nor a preset is given. */
  readonly scopes?: readonly Scope[];
  readonly preset?: Preset;
  /** The one gateway that the keys are bound to, where they have a gateway scope. */
  readonly gatewayRef?: NonNullable<PlatformKeyArgs["gatewayRef"]>;
  /** The memory libraries that the keys may reach, where they have a memory scope; all of the team's where it is left out. */
  readonly libraryAccess?: NonNullable<PlatformKeyArgs["libraryAccess"]>;
  /** What is different in one environment. */
  readonly environments?: { readonly [environment in Environment]?: EnvironmentArgs };
};

/**
 * How long a key lives without an `up`, when an `up` renews it, and how long the one before works on. The nearer to
 * people's machines, the shorter. A production key does not end by itself: that would be an outage, not a safeguard.
 */
const LIFE: Readonly<Record<Environment, Pick<PlatformKeyArgs, "expiresAfter" | "rotation">>> = {
  dev: { expiresAfter: "168h", rotation: { interval: "96h", overlap: "1h" } },
  staging: { expiresAfter: "720h", rotation: { interval: "480h", overlap: "24h" } },
  production: { rotation: { interval: "2160h", overlap: "72h" } },
};

/**
 * What no production key has unless `environments.production.scopes` says so: production is not for trying things out.
 */
const NOT_BY_DEFAULT: Readonly<Record<Environment, readonly Scope[]>> = {
  dev: [],
  staging: [],
  production: ["memory:write"],
};

type Keys = { readonly [environment in Environment]: PlatformKey };
type Secrets = { readonly [environment in Environment]: string };

/** Keys for dev, staging and production, declared once. */
export class EnvironmentKeys extends ComponentResource {
  readonly keys: Keys;
  /** The secret of each, as one secret output. */
  readonly secrets: Output<Secrets>;

  /** @throws RangeError where an environment would be left without a scope, or an argument is unknown */
  constructor(name: string, args: EnvironmentKeysArgs, options?: ComponentResourceOptions) {
    refuseUnknown(args);
    super("keyplane:index:EnvironmentKeys", name, {}, options);
    const keyOf = (environment: Environment) =>
      new PlatformKey(`${name}-${environment}`, keyArgs(name, environment, args), { parent: this });
    this.keys = { dev: keyOf("dev"), staging: keyOf("staging"), production: keyOf("production") };
    const { dev, staging, production } = this.keys;
    this.secrets = output({ dev: dev.secret, staging: staging.secret, production: production.secret });
    this.registerOutputs({ secrets: this.secrets });
  }
}

const ARGUMENTS = ["team", "scopes", "preset", "gatewayRef", "libraryAccess", "environments"];

/** A misspelt restriction would be none: a program that no compiler has checked gets no wider key for it. */
function refuseUnknown(args: EnvironmentKeysArgs): void {
  refuseUnknownNames("argument", args, ARGUMENTS);
  refuseUnknownNames("environment", args.environments ?? {}, ENVIRONMENTS);
}

function refuseUnknownNames(noun: string, given: object, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = suggest(unknown, known);
  const meant = near === undefined ? "" : `did you mean ${near}? `;
  throw new RangeError(`EnvironmentKeys: unknown ${noun} ${unknown}: ${meant}Known are ${known.join(", ")}`);
}

/** What one environment's key is to be. */
function keyArgs(
  name: string,
  environment: Environment,
  { team, gatewayRef, libraryAccess, environments = {}, ...needs }: EnvironmentKeysArgs,
): PlatformKeyArgs {
  const { scopes: own, ...special } = environments[environment] ?? {};
  const scopes = own ?? allowedScopes(environment, needs);
  const reads = scopes.some((scope) => scope.startsWith("memory:"));
  const calls = scopes.some((scope) => scope.startsWith("gateway:"));
  const { expiresAfter, rotation } = LIFE[environment];
  return {
    team,
    displayName: `${name} (${environment})`,
    scopes: [...scopes],
    ...(gatewayRef !== undefined && calls && { gatewayRef }),
    ...(libraryAccess !== undefined && reads && { libraryAccess }),
    ...(expiresAfter !== undefined && special.expiresAt === undefined && { expiresAfter }),
    rotation,
    ...special,
  };
}

function allowedScopes(environment: Environment, needs: Pick<EnvironmentKeysArgs, "scopes" | "preset">): Scope[] {
  const { preset, scopes = [] } = needs;
  const wanted = preset === undefined && scopes.length === 0 ? (["memory:read"] as const) : scopes;
  const all = preset === undefined ? [...wanted] : effectiveScopes({ preset });
  const allowed = all.filter((scope) => !NOT_BY_DEFAULT[environment].includes(scope));
  if (allowed.length > 0) return allowed;
  throw new RangeError(
    `EnvironmentKeys: a ${environment} key does not get ${all.join(", ")} unless environments.${environment}.scopes says so`,
  );
}
