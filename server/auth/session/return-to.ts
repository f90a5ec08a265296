import { containsKey } from "../../../domain/redact.ts";

/** Path at which the console is served. */
export const CONSOLE = "/dashboard";
export const SIGN_IN = `${CONSOLE}/sign-in`;

const MAX_LENGTH = 2_048;
/** Origin that a page's path is resolved against: no server has it. */
const NOWHERE = "http://console.invalid";

/**
 * Returns a page of the console that a request may be sent to: for any text that names none, such as another server's
 * address in whatever spelling, the first page.
 */
export function localPage(text: string | undefined): string {
  const home = `${CONSOLE}/`;
  if (text === undefined || text.length > MAX_LENGTH || !/^\/dashboard(?:[/?]|$)[!-~]*$/.test(text)) return home;
  if (containsKey(text) || text.includes("\\") || !URL.canParse(text, NOWHERE)) return home;
  const { origin, pathname, search } = new URL(text, NOWHERE);
  // A character that is encoded could spell the sign-in in another way.
  const isPage = origin === NOWHERE && /^\/dashboard(?:\/[^%]*)?$/.test(pathname) && !pathname.startsWith(SIGN_IN);
  const page = `${pathname}${search}`;
  // Quotes are longer by now, and a cookie has to hold it.
  return isPage && page.length <= MAX_LENGTH ? page : home;
}

/** Returns the URL of the sign-in that returns to a page. */
export function signInUrl(page: string | undefined): string {
  return `${SIGN_IN}?${new URLSearchParams({ returnTo: localPage(page) })}`;
}

/** Returns the URL that asks an issuer anew about the person it signed in, without showing a page of its own. */
export function renewUrl(issuer: string, page: string | undefined): string {
  return `${SIGN_IN}?${new URLSearchParams({ issuer, renew: "", returnTo: localPage(page) })}`;
}
