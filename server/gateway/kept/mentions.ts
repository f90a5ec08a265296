import { READ_CODINGS } from "../../http/bodies/body-coding.ts";
import { namesOtherCharset } from "../../http/bodies/charset.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import type { RequestHead } from "../headers/headers.ts";

/**
 * Pattern of a body in which a member may name a file, a cached content or a vector store: the member's name in any case and with
 * anything but letters and digits within, an escape or a letter that may be a part of it, or a NUL, as in UTF-16. Found
 * in most bodies that name one and in few others, which are then read as carefully.
 */
const MAY_NAME =
  /f[\W_]*i[\W_]*l[\W_]*e[\W_]*[iu]|c[\W_]*a[\W_]*c[\W_]*h[\W_]*e[\W_]*d[\W_]*c|v[\W_]*e[\W_]*c[\W_]*t[\W_]*o[\W_]*r[\W_]*s[\W_]*t[\W_]*o[\W_]*r[\W_]*e[\W_]*i|\\u(?:00|0131|017f|fb0)|\u00c4\u00b1|\u00c5\u00bf|\u00ef\u00ac|\0/i;
/** Pattern of media types whose bodies are read as the text that they are. */
const TEXT = /^(?:application\/(?:[\w.-]+\+)?json|text\/plain|application\/x-www-form-urlencoded)[ \t]*(?:;|$)/i;

/** Pattern of the media type that curl sends by default, with JSON too. */
const URL_ENCODED = /^application\/x-www-form-urlencoded/i;

/** True if a small body may name a file in a member; false for most, which are not read any further. */
export function mayMention(body: Buffer, contentType: string | undefined): boolean {
  const text = body.toString("latin1");
  // What is no JSON there has escapes of its own.
  return MAY_NAME.test(text) || (URL_ENCODED.test(contentType ?? "") && !/^\s*\{/.test(text));
}

/** Returns the refusal of a body that is no text, or a text in another coding: what it names could not be seen. */
export function refusalOfCoded({ contentType, contentEncoding }: RequestHead): Problem | undefined {
  if (contentEncoding !== undefined && contentEncoding.trim().toLowerCase() !== "identity") return COMPRESSED;
  if (contentType === undefined) return undefined;
  if (!TEXT.test(contentType)) return NO_TEXT;
  return namesOtherCharset(contentType) ? OTHER_CHARSET : undefined;
}

const COMPRESSED = problem(
  "unsupported_media_type",
  "A compressed body cannot be read for the files that it names: send it uncompressed.",
  READ_CODINGS,
);
const NO_TEXT = problem(
  "unsupported_media_type",
  "The body must be JSON: send it with Content-Type: application/json.",
);
const OTHER_CHARSET = problem(
  "invalid_request",
  "The body must be UTF-8, which is what JSON is: name no other charset.",
);
