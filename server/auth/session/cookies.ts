import type { ServerConfig } from "../../config.ts";
import { isOverTls } from "../../http/transport-security.ts";

/** The cookies of the console: the session, and an attempt to sign in. */
const NAMES = { session: "keyplane_session", attempt: "keyplane_sign_in" } as const;
export type CookieName = keyof typeof NAMES;

/** Where clients reach this server, as far as its cookies go. */
type Reached = Pick<ServerConfig, "publicUrl" | "tls">;

/**
 * What a cookie is called where clients reach this server so. Over https a browser keeps the name for this very host,
 * and takes it over https alone (RFC 6265bis, `__Host-`).
 */
export function cookieName(cookie: CookieName, reached: Reached): string {
  return `${isOverTls(reached) ? "__Host-" : ""}${NAMES[cookie]}`;
}

/** What a cookie holds; undefined where there is none, or more than one: nobody could tell which of them is ours. */
export function readCookie(cookie: CookieName, reached: Reached, rawHeaders: readonly string[]): string | undefined {
  const start = `${cookieName(cookie, reached)}=`;
  const found = rawHeaders
    .filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === "cookie")
    .flatMap((value) => value.split(";"))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start));
  return found.length === 1 ? found[0]?.slice(start.length) : undefined;
}

/**
 * The value of a `Set-Cookie`. No script reads the cookie, and no other site's page sends it but by a link: so people who
 * come back from an issuer bring it.
 *
 * @param value of characters that a cookie may have
 * @param maxAgeMs how long a browser keeps it
 */
export function setCookie(cookie: CookieName, reached: Reached, value: string, maxAgeMs: number): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${Math.floor(maxAgeMs / 1_000)}`;
  return `${cookieName(cookie, reached)}=${value}; ${attributes}${isOverTls(reached) ? "; Secure" : ""}`;
}

/** The value of a `Set-Cookie` that has a browser forget it. */
export function clearCookie(cookie: CookieName, reached: Reached): string {
  return setCookie(cookie, reached, "", 0);
}
