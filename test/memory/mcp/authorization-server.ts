import { randomBytes } from "node:crypto";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import { openBrowser } from "../../server/auth/session/browser.ts";

/** Where clients are sent back to; nothing listens there. */
export const CALLBACK = "http://127.0.0.1:9/callback";

/**
 * A real authorization server on loopback, which lets clients register themselves and signs tokens for resources by RFC
 * 8707. Everybody agrees to whatever a client asks for.
 */
export async function startAuthorizationServer() {
  let handle: RequestListener = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: "k", alg: "RS256", use: "sig" };
  const provider = new Provider(url, {
    jwks: { keys: [jwk] },
    cookies: { keys: [randomBytes(16).toString("hex")] },
    scopes: ["openid", "memory:read", "memory:write"],
    features: {
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          ...{ scope: "memory:read memory:write", audience: resource },
          ...{ accessTokenFormat: "jwt", accessTokenTTL: 300, jwt: { sign: { alg: "RS256" } } },
        }),
      },
    },
    findAccount: (_context, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
    async loadExistingGrant({ oidc: { provider: known, client, session, params } }) {
      const grant = new known.Grant({ clientId: client?.clientId ?? "", accountId: session?.accountId ?? "" });
      const { scope, resource } = params ?? {};
      if (typeof scope === "string") grant.addOIDCScope(scope);
      if (typeof resource === "string" && typeof scope === "string") grant.addResourceScope(resource, scope);
      await grant.save();
      return grant;
    },
  });
  handle = provider.callback();

  return {
    url,
    /** Signs in a person whom a client has sent to `authorization`, and gives what comes back to it. */
    async signIn(authorization: URL, who: string): Promise<URLSearchParams> {
      const browser = openBrowser();
      let page = await browser.visit(authorization.href);
      for (let forms = 0; forms < 2 && !page.url.startsWith(CALLBACK); forms++) {
        const [, action = ""] = /action="([^"]+)"/.exec(page.text) ?? [];
        const [, prompt = ""] = /name="prompt" value="(\w+)"/.exec(page.text) ?? [];
        page = await browser.visit(new URL(action, page.url).href, { prompt, login: who, password: "x" }, CALLBACK);
      }
      return new URL(page.url).searchParams;
    },
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
