/**
 * Rules by which `EnvironmentKeys` makes the key of each environment from an application's needs. The component of the
 * TypeScript library and the component that the provider constructs for all other languages call them, each with its
 * own form of values.
 */
import { PRESETS, type Preset, type Scope } from "../../domain/access/scopes.ts";
import { defined } from "../../domain/defined.ts";
import { suggest } from "../../domain/manifest/document/suggestion.ts";
import schema from "./schema.json" with { type: "json" };

export const ENVIRONMENTS = ["dev", "staging", "production"] as const;
export type Environment = (typeof ENVIRONMENTS)[number];

/** Value for each environment. */
export type ForEach<T> = { readonly [environment in Environment]: T };

export function forEachEnvironment<T>(make: (environment: Environment) => T): ForEach<T> {
  return { dev: make("dev"), staging: make("staging"), production: make("production") };
}

/** Returns the resource name of one environment's key. @param name the component's name */
export function keyName(name: string, environment: Environment): string {
  return `${name}-${environment}`;
}

type Life = {
  readonly expiresAfter?: string;
  readonly rotation: { readonly interval: string; readonly overlap: string };
};

/**
 * Lifetime of a key without an `up`, interval after which an `up` renews it, and overlap of the version before. The
 * nearer to people's machines, the shorter. A production key does not end by itself: that would be an outage, not a
 * safeguard.
 */
const LIFE: ForEach<Life> = {
  dev: { expiresAfter: "168h", rotation: { interval: "96h", overlap: "1h" } },
  staging: { expiresAfter: "720h", rotation: { interval: "480h", overlap: "24h" } },
  production: { rotation: { interval: "2160h", overlap: "72h" } },
};

/**
 * Scopes that a key lacks unless `environments.<environment>.scopes` names them: production is not for trying things
 * out.
 */
const NOT_BY_DEFAULT: ForEach<readonly string[]> = {
  dev: [],
  staging: [],
  production: ["memory:write"],
};

const ARGUMENTS = Object.keys(schema.resources["keyplane:index:EnvironmentKeys"].inputProperties);
const OF_ONE_ENVIRONMENT = Object.keys(schema.types["keyplane:index:EnvironmentKeysEnvironment"].properties);

/**
 * Refuses unknown arguments: a misspelt restriction would not restrict, and a program that no compiler has checked must
 * not get a wider key for it.
 *
 * @throws RangeError that names the known arguments
 */
export function refuseUnknownArguments(args: object): void {
  refuseUnknown("argument", args, ARGUMENTS);
}

/** Refuses unknown environments likewise. @throws RangeError */
export function refuseUnknownEnvironments(environments: object): void {
  refuseUnknown("environment", environments, ENVIRONMENTS);
}

/** Refuses unknown properties of one environment likewise. @throws RangeError */
export function refuseUnknownProperties(environment: Environment, special: object): void {
  refuseUnknown("property", special, OF_ONE_ENVIRONMENT, `environments.${environment}.`);
}

function refuseUnknown(noun: string, given: object, known: readonly string[], path = ""): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = suggest(unknown, known);
  const meant = near === undefined ? "" : `did you mean ${near}? `;
  throw new RangeError(`EnvironmentKeys: unknown ${noun} ${path}${unknown}: ${meant}Known are ${known.join(", ")}`);
}

/**
 * Returns the scopes of a key in an environment that names none itself.
 *
 * @param needs needs of the application; `memory:read` if these are empty
 * @throws RangeError if both scopes and a preset are given, or the key would be left without a scope
 */
export function defaultScopes<Text extends string>(
  environment: Environment,
  { preset, scopes = [] }: { readonly preset?: Preset | undefined; readonly scopes?: readonly Text[] | undefined },
): (Text | Scope)[] {
  if (preset !== undefined && scopes.length > 0) {
    throw new RangeError("EnvironmentKeys: scopes and preset are both there: write one of them");
  }
  const wanted = scopes.length === 0 ? PRESETS.MCPReadOnly : scopes;
  const all: readonly (Text | Scope)[] = preset === undefined ? wanted : PRESETS[preset];
  const allowed = all.filter((scope) => !NOT_BY_DEFAULT[environment].includes(scope));
  if (allowed.length > 0) return allowed;
  throw new RangeError(
    `EnvironmentKeys: a ${environment} key does not get ${all.join(", ")} unless environments.${environment}.scopes says so`,
  );
}

/** Returns the rotation of a key in an environment, with the fields that the environment itself names. */
export function environmentRotation<Fields extends object>(environment: Environment, own: Fields) {
  return { ...LIFE[environment].rotation, ...defined(own) };
}

/** Properties of a key except its scopes: those of all three environments, and the special ones of one. */
type KeyProperties<Team, Gateway, Libraries, Special> = {
  readonly team: Team;
  readonly gatewayRef?: Gateway | undefined;
  readonly libraryAccess?: Libraries | undefined;
  readonly special: Special;
};

/** Properties of a key, as {@link environmentKey} makes them. */
type EnvironmentKey<Text, Team, Gateway, Libraries, Special> = {
  readonly team: Team;
  readonly displayName: string;
  readonly scopes: Text[];
  readonly gatewayRef?: Exclude<Gateway, undefined>;
  readonly libraryAccess?: Exclude<Libraries, undefined>;
  readonly expiresAfter?: string;
  readonly rotation: Life["rotation"];
} & Special;

/**
 * Returns the properties of one environment's key. Those of the environment win over those of the component.
 *
 * @param name the component's name
 */
export function environmentKey<
  Text extends string,
  Team,
  Gateway,
  Libraries,
  Special extends { readonly expiresAt?: unknown },
>(
  { name, environment, scopes }: { readonly name: string; readonly environment: Environment; readonly scopes: Text[] },
  { team, gatewayRef, libraryAccess, special }: KeyProperties<Team, Gateway, Libraries, Special>,
): EnvironmentKey<Text, Team, Gateway, Libraries, Special> {
  const { expiresAfter, rotation } = LIFE[environment];
  return {
    team,
    displayName: `${name} (${environment})`,
    scopes,
    ...defined({
      gatewayRef: hasScopeOf("gateway", scopes) ? gatewayRef : undefined,
      libraryAccess: hasScopeOf("memory", scopes) ? libraryAccess : undefined,
      expiresAfter: special.expiresAt === undefined ? expiresAfter : undefined,
    }),
    rotation,
    ...special,
  };
}

function hasScopeOf(product: "gateway" | "memory", scopes: readonly string[]): boolean {
  return scopes.some((scope) => scope.startsWith(`${product}:`));
}
