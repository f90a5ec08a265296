import { randomBytes } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import Provider from "oidc-provider";
import { CONSOLE } from "../../../../server/auth/session/return-to.ts";
import type { TestBrowser } from "./browser.ts";

export const CLIENT_SECRET = "a-secret-of-the-console's-client";
const CLIENT_ID = "console";
/** A person for whom the provider has an empty name. */
export const NAMELESS = "nameless";
const GROUPS = { ann: ["leads"], root: ["platform"] } as const;

/** A real OpenID Connect provider on loopback, whose one client is the console of the server that it is opened for. */
export async function startProvider() {
  let handle: RequestListener = (_request, response) => response.writeHead(503).end();
  let isAway = false;
  const server = createServer((request, response) => {
    if (isAway) response.writeHead(503).end();
    else handle(request, response);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const groups = new Map<string, readonly string[]>(Object.entries(GROUPS));
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: "k", alg: "RS256", use: "sig" };

  return {
    url,
    clientId: CLIENT_ID,
    /** Opens it for the console at `keyplane`. */
    open(keyplane: string): void {
      const provider = new Provider(url, {
        jwks: { keys: [jwk] },
        cookies: { keys: [randomBytes(16).toString("hex")] },
        clients: [
          {
            ...{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET },
            redirect_uris: [`${keyplane}${CONSOLE}/callback`],
            post_logout_redirect_uris: [`${keyplane}${CONSOLE}/sign-in`],
            backchannel_logout_uri: `${keyplane}${CONSOLE}/backchannel-logout`,
            backchannel_logout_session_required: true,
          },
        ],
        conformIdTokenClaims: false,
        scopes: ["openid", "profile", "groups"],
        claims: { openid: ["sub", "sid"], profile: ["name"], groups: ["groups"] },
        // Its own refuses this machine's addresses.
        fetch: (address, { method, headers, body }: RequestInit = {}) =>
          fetch(address, { method: method ?? "GET", headers: headers ?? {}, body: body ?? null }),
        features: { backchannelLogout: { enabled: true } },
        findAccount: (_context, accountId) => ({
          accountId,
          claims: async () => ({
            ...{ sub: accountId, groups: groups.get(accountId) ?? [] },
            name: accountId === NAMELESS ? " " : `Name of ${accountId}`,
          }),
        }),
        async loadExistingGrant({
          oidc: {
            provider: { Grant },
            client,
            session,
          },
        }) {
          const grant = new Grant({ clientId: client?.clientId ?? "", accountId: session?.accountId ?? "" });
          grant.addOIDCScope("openid profile groups");
          await grant.save();
          return grant;
        },
      });
      handle = provider.callback();
    },
    setGroups(accountId: string, names: readonly string[]): void {
      groups.set(accountId, names);
    },
    setAway(value: boolean): void {
      isAway = value;
    },
    /** A logout token as the provider would make it, but for what is given. */
    logoutToken(claims: Readonly<Record<string, unknown>>, now = Date.now()): Promise<string> {
      return new SignJWT({
        ...{ iss: url, aud: CLIENT_ID, iat: Math.floor(now / 1_000), jti: randomBytes(9).toString("hex") },
        ...{ events: { "http://schemas.openid.net/event/backchannel-logout": {} } },
        ...claims,
      })
        .setProtectedHeader({ alg: "RS256", kid: "k", typ: "logout+jwt" })
        .sign(privateKey);
    },
    /** Signs a person in at the provider, where a browser has come to its form, and comes back to the console's callback. */
    logIn(browser: TestBrowser, form: { readonly url: string; readonly text: string }, who: string, stopAt?: string) {
      const [, action = ""] = /action="([^"]+)"/.exec(form.text) ?? [];
      return browser.visit(new URL(action, form.url).href, { prompt: "login", login: who, password: "x" }, stopAt);
    },
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

export type TestProvider = Awaited<ReturnType<typeof startProvider>>;
