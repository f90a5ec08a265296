import { isTrustworthyUrl } from "../../context/trustworthy-url.ts";

/**
 * Error for an issuer that does not answer as it should at present: its tokens cannot be validated, and its people
 * cannot sign in.
 */
export class IssuerUnavailableError extends Error {
  constructor(issuer: string, options?: ErrorOptions) {
    super(`the issuer ${issuer} gave no valid response`, options);
    this.name = "IssuerUnavailableError";
  }
}

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 << 10;

/**
 * Discovery document of an issuer (OpenID Connect Discovery §3), as it was answered; only the issuer's name is checked.
 */
export type Discovered = Readonly<Record<string, unknown>> & { readonly issuer: string };

/** Endpoints that are asked, or that people are sent to. */
export type Endpoint = "jwks_uri" | "authorization_endpoint" | "token_endpoint" | "end_session_endpoint";

/**
 * Asks an issuer for its discovery document (OpenID Connect Discovery §4).
 *
 * @throws Error if it does not answer, or with another issuer's
 */
export async function discover(issuer: string): Promise<Discovered> {
  const document = await fetchJson(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  if (document.issuer !== issuer) throw new Error("the discovery document is another issuer's");
  return { ...document, issuer };
}

/**
 * Returns the URL of an endpoint; undefined if the document names none.
 *
 * @throws Error for a URL that is not to be asked
 */
export function endpointOf(document: Discovered, name: Endpoint): string | undefined {
  const url = document[name];
  if (url === undefined) return undefined;
  if (typeof url !== "string" || !isTrustworthyUrl(url))
    throw new Error(`the discovery document names no usable ${name}`);
  return url;
}

export async function fetchJson(url: string): Promise<Record<string, unknown>> {
  const answer = await fetchWhole(url, { headers: { accept: "application/json, application/jwk-set+json" } });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const parsed: unknown = await answer.json();
  if (typeof parsed !== "object" || parsed === null) throw new Error("no JSON object");
  return { ...parsed };
}

/** Asks an issuer something, within bounds of time and size. Redirects are not followed. */
export async function fetchWhole(url: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(url, { ...init, redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  const { status, headers } = answer;
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers });
}
