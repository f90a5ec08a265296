/** Configuration of the provider: the installation that it works for, and the token. */
import { type Environment, withoutServiceLinks } from "../../../domain/environment.ts";
import { suggestion } from "../../../domain/manifest/document/suggestion.ts";
import type { FieldDiagnostic } from "../../../domain/manifest/validation/check-spec.ts";
import type { Inputs } from "./resources.ts";
import { type Revealed, reveal, revealAll, UNKNOWN, type Values } from "./values.ts";

/** Location of the management API and of its token. */
export type ProviderConfig = {
  /** URL without a slash at its end. */
  readonly url: string;
  readonly tokenFile: string | undefined;
  /** Token from the environment, if no file is named. */
  readonly token: string | undefined;
};

/**
 * Properties that a program or `pulumi config set keyplane:...` may set. All are kept in the state, so the token is
 * none of them.
 */
const PROPERTIES = ["url", "tokenFile"] as const;
/** Properties that the engine adds itself. */
const OF_THE_ENGINE = new Set(["version", "pluginDownloadURL", "__internal", "__defaults"]);

/** Returns the environment of the provider's process. */
export function providerEnvironment(): Environment {
  return withoutServiceLinks(process.env);
}

/** Returns the faults in a configuration, by property. */
export function checkConfig(values: Values): FieldDiagnostic[] {
  return Object.entries(values).flatMap(([path, value]): FieldDiagnostic[] => {
    if (OF_THE_ENGINE.has(path)) return [];
    const message = faultOf(path, reveal(value));
    return message === undefined ? [] : [{ path, message }];
  });
}

function faultOf(property: string, value: Revealed): string | undefined {
  if (property.toLowerCase().includes("token") && property !== "tokenFile") return NO_TOKEN_HERE;
  if (!(PROPERTIES as readonly string[]).includes(property)) return `unknown: ${suggestion(property, PROPERTIES)}`;
  if (value === UNKNOWN) return undefined;
  if (typeof value !== "string") return "must be text";
  return property === "url" ? explainUrl(value) : explainTokenFile(value);
}

const NO_TOKEN_HERE =
  "a token has no place in the configuration, which is kept in the state: name its file as tokenFile or KEYPLANE_TOKEN_FILE, or give it in the variable KEYPLANE_TOKEN";

function explainUrl(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    return "must be an http or https URL, such as https://keys.example.com";
  }
  return url.username || url.password || url.search || url.hash
    ? "must be without credentials, query and fragment: it is kept in the state"
    : undefined;
}

function explainTokenFile(text: string): string | undefined {
  if (text === "") return "is empty: name the file that holds the token";
  return /^(eyJ[\w-]+\.|kpt_|inf_)/.test(text) ? NO_TOKEN_HERE : undefined;
}

/**
 * Returns the settings of the provider. A program's values win over the environment, and a file over a token.
 *
 * @returns undefined while the program's values are not known yet
 * @throws ConfigError if something is missing, with what to do
 */
export function readConfig(values: Values, env: Environment): ProviderConfig | undefined {
  const { url: givenUrl, tokenFile: givenFile }: Inputs = revealAll(values);
  if (givenUrl === UNKNOWN || givenFile === UNKNOWN) return undefined;
  const url = textOf(givenUrl) ?? env.KEYPLANE_URL;
  if (url === undefined || url === "") throw new ConfigError(NO_URL);
  const diagnostic = explainUrl(url);
  if (diagnostic !== undefined) throw new ConfigError(`KEYPLANE_URL ${diagnostic}`);
  const tokenFile = textOf(givenFile) ?? (env.KEYPLANE_TOKEN_FILE || undefined);
  const token = env.KEYPLANE_TOKEN || undefined;
  if (tokenFile === undefined && token === undefined) throw new ConfigError(NO_TOKEN);
  return { url: url.replace(/\/+$/, ""), tokenFile, token: tokenFile === undefined ? token : undefined };
}

function textOf(value: Revealed | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Error of an incomplete configuration. The message says what to give. */
class ConfigError extends Error {}

const OF_LAST_UPDATE = "before `pulumi up`: a destroy or refresh has the configuration of the last update";
const NO_URL = `where is the Keyplane server? Set the variable KEYPLANE_URL, or say \`pulumi config set keyplane:url https://keys.example.com\` ${OF_LAST_UPDATE}`;
const NO_TOKEN = `a token is missing: name its file in the variable KEYPLANE_TOKEN_FILE, give it in KEYPLANE_TOKEN, or say \`pulumi config set keyplane:tokenFile FILE\` ${OF_LAST_UPDATE}`;
