/** Keys of one application for development, staging and production, with no more rights than each of them needs. */
import { ComponentResource, type ComponentResourceOptions, type Input, Output, output } from "@pulumi/pulumi";
import type { Preset, Scope } from "../../domain/access/scopes.ts";
import {
  defaultScopes,
  type Environment,
  environmentKey,
  environmentRotation,
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
 * Properties of one environment's key: all of a key except its owner. They win over the properties of the component.
 */
export type EnvironmentArgs = Partial<Omit<PlatformKeyArgs, "team" | "namespace" | "scopes" | "preset">> & {
  readonly scopes?: readonly Scope[];
};

export type EnvironmentKeysArgs = {
  /** Team that the keys belong to. */
  readonly team: Input<string>;
  /** Scopes that the application needs; `memory:read` if neither scopes nor a preset are given. */
  readonly scopes?: readonly Scope[];
  readonly preset?: Preset;
  /** Gateway that the keys with a gateway scope are bound to. */
  readonly gatewayRef?: NonNullable<PlatformKeyArgs["gatewayRef"]>;
  /** Memory libraries that the keys with a memory scope may reach; all of the team's if left out. */
  readonly libraryAccess?: NonNullable<PlatformKeyArgs["libraryAccess"]>;
  /** Differences of single environments. */
  readonly environments?: { readonly [environment in Environment]?: EnvironmentArgs };
};

/** Keys for dev, staging and production, declared once. */
export class EnvironmentKeys extends ComponentResource {
  readonly keys: ForEach<PlatformKey>;
  /** Secrets of the keys, as one secret output. */
  readonly secrets: Output<ForEach<string>>;

  /**
   * Creates the keys.
   *
   * @throws RangeError if a key would be left without a scope, or an argument is unknown
   */
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

/** Returns the properties of one environment's key. */
function keyArgs(name: string, environment: Environment, args: EnvironmentKeysArgs): PlatformKeyArgs {
  const { team, gatewayRef, libraryAccess, environments = {}, ...needs } = args;
  refuseUnknownArguments(args);
  refuseUnknownEnvironments(environments);
  refuseUnknownProperties(environment, environments[environment] ?? {});
  const { scopes: own, rotation, ...special } = environments[environment] ?? {};
  const scopes = own === undefined ? defaultScopes(environment, needs) : [...own];
  const key = environmentKey({ name, environment, scopes }, { team, gatewayRef, libraryAccess, special });
  if (rotation === undefined) return key;
  const isPlain = !Output.isInstance(rotation) && !(rotation instanceof Promise);
  // What is not known yet of a plain one leaves the rest known.
  if (isPlain) return { ...key, rotation: environmentRotation(environment, rotation) };
  return { ...key, rotation: output(rotation).apply((own) => environmentRotation(environment, own)) };
}
