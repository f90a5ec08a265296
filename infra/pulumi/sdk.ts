/** Library that programs import as `keyplane/pulumi`. */
export { EnvironmentKeys, type EnvironmentKeysArgs } from "./environment-keys.ts";
export { ENVIRONMENTS, type Environment } from "./environments.ts";
export type {
  MemoryLibraryArgs,
  ModelGatewayArgs,
  PlatformKeyArgs,
  PlatformTeamArgs,
  ProviderArgs,
} from "./generated/types.ts";
export {
  getGateway,
  getGatewayOutput,
  getKey,
  getKeyOutput,
  getTeam,
  getTeamOutput,
  MemoryLibrary,
  ModelGateway,
  PlatformKey,
  PlatformTeam,
  Provider,
} from "./resources.ts";
