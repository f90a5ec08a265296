/** Resources and functions of the Pulumi package `keyplane`, whose schema is schema.json. */

import {
  CustomResource,
  type CustomResourceOptions,
  type ID,
  type Input,
  type Inputs,
  type InvokeOptions,
  mergeOptions,
  type Output,
  ProviderResource,
  type ResourceOptions,
  runtime,
  secret,
} from "@pulumi/pulumi";
import type {
  GetGatewayArgs,
  GetGatewayResult,
  GetKeyArgs,
  GetKeyResult,
  GetTeamArgs,
  GetTeamResult,
  MemoryLibraryArgs,
  MemoryLibraryState,
  ModelGatewayArgs,
  ModelGatewayState,
  PlatformKeyArgs,
  PlatformKeyState,
  PlatformTeamArgs,
  PlatformTeamState,
  ProviderArgs,
} from "./generated/types.ts";
import schema from "./schema.json" with { type: "json" };

const { version } = schema;

/**
 * Provider with its own location of Keyplane, for the resources that are given it. All others use the stack's
 * configuration.
 */
export class Provider extends ProviderResource {
  constructor(name: string, args: ProviderArgs = {}, options: ResourceOptions = {}) {
    super("keyplane", name, args, mergeOptions({ version }, options));
  }
}

type Outputs<State> = { readonly [property in keyof State]: Output<State[property]> };
type Resource<Args, State> = {
  new (name: string, args: Args, options?: CustomResourceOptions): CustomResource & Outputs<State>;
  /**
   * Reads an object that exists already, made by another stack or client. This stack never changes it.
   *
   * @param name the resource's name in this program
   * @param id the object's id, such as `key_abcdefghijklmnopqrst`
   */
  get<T>(
    this: new (
      name: string,
      args: Args,
      options?: CustomResourceOptions,
    ) => T,
    name: string,
    id: Input<ID>,
    options?: CustomResourceOptions,
  ): T;
};

/** Returns the class of a resource. The provider's answer is set on it by name, as the schema has it. */
function resourceOf<Args extends object, State>(kind: keyof typeof schema.resources): Resource<Args, State> {
  const outputs = Object.fromEntries(Object.keys(schema.resources[kind].properties).map((name) => [name, undefined]));
  class Managed extends CustomResource {
    constructor(name: string, args: Args, options: CustomResourceOptions = {}) {
      super(kind, name, { ...outputs, ...args }, mergeOptions({ version }, options));
    }

    static get<T>(
      this: new (
        name: string,
        args: Args,
        options?: CustomResourceOptions,
      ) => T,
      name: string,
      id: Input<ID>,
      options: CustomResourceOptions = {},
    ): T {
      // The engine asks for all of them by the id.
      return new this(name, {} as Args, { ...options, id });
    }
  }
  // The base class sets the outputs when the engine answers.
  return Managed as unknown as Resource<Args, State>;
}

/** API key. Its secret is the output `secret`, encrypted in the state, or nowhere: see `deliver`. */
export class PlatformKey extends resourceOf<PlatformKeyArgs, PlatformKeyState>("keyplane:index:PlatformKey") {}

/** Team, to which keys, gateways and libraries belong. The signing secrets of its webhooks are marked as secret. */
export class PlatformTeam extends resourceOf<PlatformTeamArgs, PlatformTeamState>("keyplane:index:PlatformTeam") {
  constructor(name: string, args: PlatformTeamArgs = {}, options?: CustomResourceOptions) {
    super(name, { ...args, ...(args.webhooks && { webhooks: sealedWebhooks(args.webhooks) }) }, options);
  }
}

/** Library of memories. */
export class MemoryLibrary extends resourceOf<MemoryLibraryArgs, MemoryLibraryState>("keyplane:index:MemoryLibrary") {}

/** Gateway to model providers. Their credentials are marked as secret, and stay on the server's side. */
export class ModelGateway extends resourceOf<ModelGatewayArgs, ModelGatewayState>("keyplane:index:ModelGateway") {
  constructor(name: string, args: ModelGatewayArgs, options?: CustomResourceOptions) {
    super(name, { ...args, upstreams: sealed(args.upstreams) }, options);
  }
}

/** Marks credentials as secret. The provider does so too, but only after the engine has seen them. */
function sealed(upstreams: ModelGatewayArgs["upstreams"]): ModelGatewayArgs["upstreams"] {
  if (!Array.isArray(upstreams)) return upstreams;
  return upstreams.map((upstream) =>
    "credential" in upstream && upstream.credential !== undefined
      ? { ...upstream, credential: secret(upstream.credential) }
      : upstream,
  );
}

function sealedWebhooks(
  webhooks: NonNullable<PlatformTeamArgs["webhooks"]>,
): NonNullable<PlatformTeamArgs["webhooks"]> {
  if (!Array.isArray(webhooks)) return webhooks;
  return webhooks.map((webhook) =>
    "secret" in webhook && webhook.secret !== undefined ? { ...webhook, secret: secret(webhook.secret) } : webhook,
  );
}

/** Look-up of an object: `now` at once, `output` once its arguments are known. */
type Lookup<Args, Result> = {
  readonly now: (args: Args, options?: InvokeOptions) => Promise<Result>;
  readonly output: (args: Wrapped<Args>, options?: InvokeOptions) => Output<Result>;
};
type Wrapped<Args> = { readonly [property in keyof Args]: Input<Args[property]> };

function lookup<Args extends Inputs, Result>(token: keyof typeof schema.functions): Lookup<Args, Result> {
  return {
    now: (args, options = {}) => runtime.invoke(token, args, { version, ...options }),
    output: (args, options = {}) => runtime.invokeOutput(token, args, { version, ...options }),
  };
}

/**
 * Looks up a key, made by this stack or not, by its id, or by its name, team and namespace. It never returns the
 * secret.
 */
export const { now: getKey, output: getKeyOutput } = lookup<GetKeyArgs, GetKeyResult>("keyplane:index:getKey");

/** Looks up a team by its id or its name. */
export const { now: getTeam, output: getTeamOutput } = lookup<GetTeamArgs, GetTeamResult>("keyplane:index:getTeam");

/** Looks up a gateway by its id, or by its name, team and namespace. It never returns the credentials. */
export const { now: getGateway, output: getGatewayOutput } = lookup<GetGatewayArgs, GetGatewayResult>(
  "keyplane:index:getGateway",
);
