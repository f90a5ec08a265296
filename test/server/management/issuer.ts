import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";

export type Signer = {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: object;
};

export async function makeSigner(kid: string, alg = "ES256"): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: "sig" } };
}

export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

/** An OpenID Connect issuer on loopback, as far as verifying its tokens goes. */
export async function startIssuer() {
  const issuer = {
    url: "",
    keys: [] as object[],
    /** What it does instead of answering properly. */
    fault: undefined as undefined | "away" | "huge" | "redirect" | "other issuer" | "elsewhere" | "hangs",
    /** What it waits for before it answers. */
    held: undefined as undefined | (() => Promise<void>),
    /** How often its keys were asked for. */
    asked: 0,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  const server = createServer(async (request, response) => {
    await issuer.held?.();
    const { fault, url } = issuer;
    if (fault === "away") return void response.writeHead(503).end();
    if (fault === "hangs") return;
    if (fault === "redirect") return void response.writeHead(302, { location: `${url}/moved` }).end();
    if (fault === "huge") return void response.end(`{"keys":[],"x":"${"x".repeat(1 << 20)}"}`);
    if (request.url === "/.well-known/openid-configuration") {
      const jwks_uri = fault === "elsewhere" ? "http://keys.example.com/jwks" : `${url}/jwks`;
      return void response.end(
        JSON.stringify({ issuer: fault === "other issuer" ? "https://x.example" : url, jwks_uri }),
      );
    }
    issuer.asked++;
    response.end(JSON.stringify({ keys: issuer.keys }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  issuer.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return issuer;
}

/**
 * A token as the issuer would make it, but for what is given.
 *
 * @param now in milliseconds since the epoch
 */
export function sign(
  { url }: Issuer,
  signer: Pick<Signer, "kid" | "alg" | "privateKey">,
  now: number,
  { claims = {}, header = {} }: { readonly claims?: Readonly<Record<string, unknown>>; readonly header?: object } = {},
): Promise<string> {
  const seconds = Math.floor(now / 1000);
  return new SignJWT({ iss: url, aud: "keyplane", sub: "ann", iat: seconds, exp: seconds + 300, ...claims })
    .setProtectedHeader({ alg: signer.alg, kid: signer.kid, ...header })
    .sign(signer.privateKey);
}
