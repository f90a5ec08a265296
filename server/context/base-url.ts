/** Returns a URL without a slash at its end, so that paths can be put behind it. */
export function baseUrl({ href }: URL): string {
  return href.replace(/\/$/, "");
}
