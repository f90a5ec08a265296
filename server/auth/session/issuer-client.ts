import type { JWTPayload } from "jose";
import * as openid from "openid-client";
import type { Clock } from "../../../runtime/clock.ts";
import type { ConsoleClient } from "../../context/config.ts";
import { type Discovered, discover, endpointOf, fetchWhole, IssuerUnavailableError } from "../tokens/issuer-http.ts";
import { CLOCK_SKEW_S } from "../tokens/jwt.ts";
import { readClientSecret } from "./client-secret.ts";

/** Error for an issuer's answer that does not complete the sign-in. */
export class SignInRefusedError extends Error {
  constructor(cause: unknown) {
    super("sign-in failed: invalid issuer response", { cause });
    this.name = "SignInRefusedError";
  }
}

/** Error for an issuer that would have to show a page to identify the person (OpenID Connect Core §3.1.2.6). */
export class InteractionNeededError extends SignInRefusedError {}
const INTERACTION_NEEDED: ReadonlySet<string> = new Set([
  ...["login_required", "interaction_required", "consent_required", "account_selection_required"],
]);

/** Error codes of an issuer that cannot identify the person at present (RFC 6749 §4.1.2.1). */
const UNAVAILABLE: ReadonlySet<string> = new Set(["server_error", "temporarily_unavailable"]);

/** Values that tie an issuer's answer to the browser that was sent to it. */
export type Checks = { readonly state: string; readonly nonce: string; readonly verifier: string };

/** Client by which people sign in at one issuer: the code flow of OpenID Connect with PKCE. */
export type IssuerClient = ConsoleClient & {
  /**
   * Returns the URL that a browser is sent to.
   *
   * @param silently true if the issuer is to answer without a page of its own: that it answers is checked first
   * @throws IssuerUnavailableError
   */
  authorizationUrl(redirectUri: string, checks: Checks, silently: boolean): Promise<URL>;
  /**
   * Redeems the code that a browser has come back with.
   *
   * @param callback URL that it came back to, with its query
   * @returns the claims of the ID token
   * @throws SignInRefusedError, InteractionNeededError
   * @throws IssuerUnavailableError
   */
  redeem(callback: URL, checks: Checks): Promise<JWTPayload>;
  /**
   * Returns the URL that a browser is sent to, to sign out at the issuer too; undefined if the issuer has no such page
   * on its own origin, which is what the pages' policy lets a form lead to.
   *
   * @throws IssuerUnavailableError
   */
  endSessionUrl(returnTo: string): Promise<URL | undefined>;
};

/** Milliseconds for which a discovery document is used. */
const DOCUMENT_MAX_AGE_MS = 600_000;
/** Milliseconds for which it is used if a browser is sent to the issuer without having asked for it. */
const SILENT_MAX_AGE_MS = 10_000;
/** Milliseconds at least until an issuer that did not answer is asked again. */
const RETRY_MS = 1_000;
/** Scopes to ask for. `groups` is no standard one: an issuer that does not know it may refuse all of them. */
const SCOPES = ["openid", "profile", "email", "groups"];
const STANDARD_SCOPES = SCOPES.slice(0, 3);

/** Creates the client of an issuer. The issuer is first contacted when a person signs in. */
export function createIssuerClient(client: ConsoleClient, clock: Clock): IssuerClient {
  const { issuer, clientId, secretFile } = client;
  const documentOf = cachedDiscovery(issuer, clock.monotonic);

  async function configure(auth: openid.ClientAuth): Promise<openid.Configuration> {
    const config = new openid.Configuration(
      // It was parsed from JSON, and has what its endpoints were asked for by.
      (await documentOf()) as openid.ServerMetadata,
      clientId,
      {
        [openid.clockSkew]: Math.round((clock.now() - Date.now()) / 1_000),
        [openid.clockTolerance]: CLOCK_SKEW_S,
      },
      auth,
    );
    // It was made sure of, for each endpoint, that only this machine is asked by http.
    openid.allowInsecureRequests(config);
    openid.enableNonRepudiationChecks(config);
    config[openid.customFetch] = (url, init) => fetchAnswer(issuer, url, init);
    return config;
  }

  return {
    ...client,
    async authorizationUrl(redirectUri, { state, nonce, verifier }, silently) {
      const document = await documentOf(silently ? SILENT_MAX_AGE_MS : DOCUMENT_MAX_AGE_MS);
      const config = await configure(openid.None());
      return openid.buildAuthorizationUrl(config, {
        ...{ redirect_uri: redirectUri, response_type: "code", scope: scopesOf(document), state, nonce },
        ...{ code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" },
        ...(silently ? { prompt: "none" } : {}),
      });
    },
    async redeem(callback, { state, nonce, verifier }) {
      const config = await configure(await authenticationOf(secretFile));
      try {
        const tokens = await openid.authorizationCodeGrant(config, callback, {
          ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
        });
        return tokens.claims() ?? {};
      } catch (error) {
        if (error instanceof openid.AuthorizationResponseError) {
          if (INTERACTION_NEEDED.has(error.error)) throw new InteractionNeededError(error);
          if (UNAVAILABLE.has(error.error)) throw new IssuerUnavailableError(issuer, { cause: error });
        }
        throw causesOf(error).find((cause) => cause instanceof IssuerUnavailableError) ?? new SignInRefusedError(error);
      }
    },
    async endSessionUrl(returnTo) {
      const endpoint = endpointOf(await documentOf(), "end_session_endpoint");
      if (endpoint === undefined || new URL(endpoint).origin !== new URL(issuer).origin) return undefined;
      const config = await configure(openid.None());
      return openid.buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo });
    },
  };
}

/**
 * Returns a function that gives an issuer's discovery document, which is asked for once however many callers need it.
 */
function cachedDiscovery(issuer: string, monotonic: () => number): (maxAgeMs?: number) => Promise<Discovered> {
  let known: { readonly document: Discovered; readonly at: number } | undefined;
  let failedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<Discovered> | undefined;

  async function ask(): Promise<Discovered> {
    try {
      const document = await discover(issuer);
      for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const) {
        if (endpointOf(document, name) === undefined) throw new Error(`the discovery document names no ${name}`);
      }
      endpointOf(document, "end_session_endpoint");
      known = { document, at: monotonic() };
      return document;
    } catch (error) {
      failedAt = monotonic();
      throw new IssuerUnavailableError(issuer, { cause: error });
    }
  }

  return async (maxAgeMs = DOCUMENT_MAX_AGE_MS) => {
    if (known !== undefined && monotonic() - known.at < maxAgeMs) return known.document;
    if (monotonic() - failedAt < RETRY_MS) throw new IssuerUnavailableError(issuer);
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
}

/** Asks an issuer. An answer that says that the issuer cannot answer is none. */
async function fetchAnswer(issuer: string, url: string, init: openid.CustomFetchOptions): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetchWhole(url, { method: init.method, headers: init.headers, body: init.body ?? null });
  } catch (error) {
    throw new IssuerUnavailableError(issuer, { cause: error });
  }
  if (answer.status >= 500) throw new IssuerUnavailableError(issuer, { cause: new Error(`status ${answer.status}`) });
  return answer;
}

function scopesOf({ scopes_supported: known }: Discovered): string {
  return (Array.isArray(known) ? SCOPES.filter((scope) => known.includes(scope)) : STANDARD_SCOPES).join(" ");
}

/**
 * Returns the client's authentication, by the secret that is in its file now: a replaced secret holds from the next
 * sign-in on.
 */
async function authenticationOf(secretFile: string | null): Promise<openid.ClientAuth> {
  if (secretFile === null) return openid.None();
  const secret = await readClientSecret(secretFile);
  return (document, client, body, headers) => {
    const methods = document.token_endpoint_auth_methods_supported;
    const isBasic = methods === undefined || methods.includes("client_secret_basic");
    const authenticate = isBasic ? openid.ClientSecretBasic(secret) : openid.ClientSecretPost(secret);
    return authenticate(document, client, body, headers);
  };
}

function causesOf(error: unknown): readonly unknown[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}
