/** Matches each charset that a media type names, in any notation. */
const CHARSET = /charset[^;]*/gi;
const UTF8 = /^charset[ \t]*=[ \t]*(?:utf-?8|"utf-?8")[ \t]*$/i;

/** True if a media type names another charset than UTF-8, which JSON is in (RFC 8259 §8.1). */
export function namesOtherCharset(type: string | undefined): boolean {
  return type?.match(CHARSET)?.some((charset) => !UTF8.test(charset)) === true;
}
