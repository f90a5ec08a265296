import type { ServerConfig } from "../../context/config.ts";
import { isOverTls } from "../../http/transport-security.ts";

/**
 * A cookie of the console: the session; a note that its issuer did not answer, and is not to be asked before it must
 * be, or that a form was sent just now; or an attempt to sign in, by its state. Each attempt has its own, as two tabs
 * may be on their way at once.
 */
export type CookieName = "session" | "renewal_put_off" | "after_form" | { readonly attempt: string };

const ATTEMPT = "keyplane_sign_in_";
/** Characters of a state that keep the attempts of one browser apart. */
const NAME_LENGTH = 8;

/** Settings that say where clients reach this server, as far as its cookies go. */
type Reached = Pick<ServerConfig, "publicUrl" | "tls">;

/**
 * Returns the name of a cookie, as clients reach this server. Over https a browser keeps the name for this very host,
 * and takes it over https alone (RFC 6265bis, `__Host-`).
 */
export function cookieName(cookie: CookieName, reached: Reached): string {
  const name = typeof cookie === "string" ? `keyplane_${cookie}` : `${ATTEMPT}${cookie.attempt.slice(0, NAME_LENGTH)}`;
  return `${isOverTls(reached) ? "__Host-" : ""}${name}`;
}

/** Returns a cookie's value; undefined if there is none, or more than one, since it cannot be known which is ours. */
export function readCookie(cookie: CookieName, reached: Reached, rawHeaders: readonly string[]): string | undefined {
  const found = cookiesOf(rawHeaders, `${cookieName(cookie, reached)}=`);
  return found.length === 1 ? found[0] : undefined;
}

/** True if a browser has sent a cookie of the name. */
export function hasCookie(cookie: CookieName, reached: Reached, rawHeaders: readonly string[]): boolean {
  return cookiesOf(rawHeaders, `${cookieName(cookie, reached)}=`).length > 0;
}

/** Returns the values of the attempts' cookies, in any order. */
export function readAttempts(reached: Reached, rawHeaders: readonly string[]): string[] {
  const start = cookieName({ attempt: "" }, reached);
  return cookiesOf(rawHeaders, start).map((pair) => pair.slice(pair.indexOf("=") + 1));
}

/** Returns what follows `start` in the cookies that begin with it. */
function cookiesOf(rawHeaders: readonly string[], start: string): string[] {
  return rawHeaders
    .filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === "cookie")
    .flatMap((value) => value.split(";"))
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .map((pair) => pair.slice(start.length));
}

/**
 * Returns the value of a `Set-Cookie`. No script reads the cookie, and no other site's page sends it but by a link: so
 * people who come back from an issuer bring it.
 *
 * @param value text of characters that a cookie may have
 * @param maxAgeMs milliseconds that a browser keeps it
 */
export function setCookie(cookie: CookieName, reached: Reached, value: string, maxAgeMs: number): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${Math.floor(maxAgeMs / 1_000)}`;
  return `${cookieName(cookie, reached)}=${value}; ${attributes}${isOverTls(reached) ? "; Secure" : ""}`;
}

/** Returns the value of a `Set-Cookie` that has a browser forget the cookie. */
export function clearCookie(cookie: CookieName, reached: Reached): string {
  return setCookie(cookie, reached, "", 0);
}
