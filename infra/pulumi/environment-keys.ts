/** One application's keys for development, staging and production, with no more rights than each of them needs. */
import { ComponentResource, type ComponentResourceOptions, type Input, type Output, output } from "@pulumi/pulumi";
import type { Preset, Scope } from "../../domain/access/scopes.ts";
import {
  defaultScopes,
  type Environment,
  environmentKey,
  type ForEach,
  forEachEnvironment,
  keyName,
  refuseUnknownArguments,
  refuseUnknownEnvironments,
  refuseUnknownProperties,
} from "./environments.ts";
import type { PlatformKeyArgs } from "./generated/types.ts";
import { PlatformKey } from "./resources.ts";

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

/** Keys for dev, staging and production, declared once. */
export class EnvironmentKeys extends ComponentResource {
  readonly keys: ForEach<PlatformKey>;
  /** The secret of each, as one secret output. */
  readonly secrets: Output<ForEach<string>>;

  /** @throws RangeError where an environment would be left without a scope, or an argument is unknown */
  constructor(name: string, args: EnvironmentKeysArgs, options?: ComponentResourceOptions) {
    const made = forEachEnvironment((environment) => keyArgs(name, environment, args));
    super("keyplane:index:EnvironmentKeys", name, {}, options);
    this.keys = forEachEnvironment(
      (environment) => new PlatformKey(keyName(name, environment), made[environment], { parent: this }),
    );
    const { dev, staging, production } = this.keys;
    this.secrets = output({ dev: dev.secret, staging: staging.secret, production: production.secret });
    this.registerOutputs({ keys: this.keys, secrets: this.secrets });
  }
}

/** What one environment's key is to be. */
function keyArgs(name: string, environment: Environment, args: EnvironmentKeysArgs): PlatformKeyArgs {
  const { team, gatewayRef, libraryAccess, environments = {}, ...needs } = args;
  refuseUnknownArguments(args);
  refuseUnknownEnvironments(environments);
  refuseUnknownProperties(environment, environments[environment] ?? {});
  const { scopes: own, ...special } = environments[environment] ?? {};
  const scopes = own === undefined ? defaultScopes(environment, needs) : [...own];
  return environmentKey({ name, environment, scopes }, { team, gatewayRef, libraryAccess, special });
}
