/** The resources and functions of the Pulumi package `keyplane`; its schema is schema.json. */

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

/** Where Keyplane is, for resources that are given this provider; the stack's configuration says it for all others. */
export class Provider extends ProviderResource {
  constructor(name: string, args: ProviderArgs = {}, options: ResourceOptions = {}) {
    super("keyplane", name, args, mergeOptions({ version }, options));
  }
}

type Outputs<State> = { readonly [property in keyof State]: Output<State[property]> };
type Resource<Args, State> = {
  new (name: string, args: Args, options?: CustomResourceOptions): CustomResource & Outputs<State>;
  /**
   * One that is there already, as another stack or client has made it: this stack reads it and never changes it.
   *
   * @param name the resource's, in this program
   * @param id the object's, as `key_abcdefghijklmnopqrst`
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

/** The class of a resource. What the provider answers is set on it by its name, as the schema has it. */
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

/** An API key. Its secret is the output `secret`, encrypted in the state, or nowhere: see `deliver`. */
export class PlatformKey extends resourceOf<PlatformKeyArgs, PlatformKeyState>("keyplane:index:PlatformKey") {}

/** A team, to which keys, gateways and libraries belong. Its webhooks' signing secrets are secrets here. */
export class PlatformTeam extends resourceOf<PlatformTeamArgs, PlatformTeamState>("keyplane:index:PlatformTeam") {
  constructor(name: string, args: PlatformTeamArgs = {}, options?: CustomResourceOptions) {
    super(name, { ...args, ...(args.webhooks && { webhooks: sealedWebhooks(args.webhooks) }) }, options);
  }
}

/** A library of memories. */
export class MemoryLibrary extends resourceOf<MemoryLibraryArgs, MemoryLibraryState>("keyplane:index:MemoryLibrary") {}

/** A gateway to model providers, whose credentials are secrets here, and on the server's side alone. */
export class ModelGateway extends resourceOf<ModelGatewayArgs, ModelGatewayState>("keyplane:index:ModelGateway") {
  constructor(name: string, args: ModelGatewayArgs, options?: CustomResourceOptions) {
    super(name, { ...args, upstreams: sealed(args.upstreams) }, options);
  }
}

/** The provider seals them too; here it is before the engine has seen them. */
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

/** What looks something up: at once, or once what it is looked up by is known. */
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
 * A key that is there, whether or not this stack has made it: by its id, or by its name, team and namespace. Never its
 * secret.
 */
export const { now: getKey, output: getKeyOutput } = lookup<GetKeyArgs, GetKeyResult>("keyplane:index:getKey");

/** A team that is there, by its id or its name. */
export const { now: getTeam, output: getTeamOutput } = lookup<GetTeamArgs, GetTeamResult>("keyplane:index:getTeam");

/** A gateway that is there, by its id, or by its name, team and namespace. Never its credentials. */
export const { now: getGateway, output: getGatewayOutput } = lookup<GetGatewayArgs, GetGatewayResult>(
  "keyplane:index:getGateway",
);
