import { isUtf8 } from "node:buffer";

/** Fault of a file whose bytes are not UTF-8. Decoded all the same it would hold other characters than its author's. */
export const FILE_NOT_UTF8 = "the file is no text in UTF-8: save it as UTF-8, not as UTF-16 or Latin-1";

/** Returns the text of a file's bytes, with its byte order mark; undefined if they are not UTF-8. */
export function utf8Text(content: string | Uint8Array): string | undefined {
  if (typeof content === "string") return content;
  return isUtf8(content) ? Buffer.from(content).toString() : undefined;
}
