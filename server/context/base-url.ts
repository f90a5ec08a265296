/** A URL that paths are put behind: without a slash at its end. */
export function baseUrl({ href }: URL): string {
  return href.replace(/\/$/, "");
}
