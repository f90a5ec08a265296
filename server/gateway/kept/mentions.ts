import { READ_CODINGS } from "../../http/bodies/body-coding.ts";
import { namesOtherCharset } from "../../http/bodies/charset.ts";
import { type Problem, problem } from "../../http/problems/problem.ts";
import type { RequestHead } from "../headers/headers.ts";

/**
 * Letters of the names of members that name a file, a store of either provider, a cached content or a message, as far as
 * they tell. A user profile's has those of a file's.
 */
const BEGINNINGS = ["filesearchs", "cachedc", "vectorstorei", "previousmessagei"];
const NAMES = [[..."file", "[iu]"], ...BEGINNINGS.map((name) => [...name])];
/** Escapes and letters that may be a part of a name, and a NUL, as in UTF-16. */
const MAY_BE_LETTER = String.raw`\\u(?:00|0131|017f|fb0)|\u00c4\u00b1|\u00c5\u00bf|\u00ef\u00ac|\0`;
/**
 * Pattern of what may stand between two letters of a name: anything but letters and digits, as it is or escaped. It takes
 * each text in one way alone, so that a search is linear: a backslash by itself stands before a letter that no escape has.
 */
const ESCAPED = String.raw`[^a-z0-9\\]*(?:\\(?:[^a-z0-9]|[bfnrt]|u[0-9a-f]{4}|(?=[ac-eg-mo-qsv-z0-9]))[^a-z0-9\\]*)*`;
/** Assertion that a letter is none of an escape: from each of many escapes all behind it would be looked at. */
const NO_ESCAPE = String.raw`(?=[^a-z0-9])(?<!\\u[0-9a-f]{4}|(?<!\\)(?:\\\\)*\\.)`;
/**
 * Patterns of a body in which a member may name something: the member's name in any case and with anything but letters
 * and digits within. Found in most bodies that name one and in few others, which are then read as carefully. Most
 * bodies have no escape, and are searched by the quicker one.
 */
const MAY_NAME = new RegExp([...NAMES.map((name) => name.join(String.raw`[\W_]*`)), MAY_BE_LETTER].join("|"), "i");
const MAY_NAME_ESCAPED = new RegExp([...NAMES.map(escaped), MAY_BE_LETTER].join("|"), "i");
/** Pattern of media types whose bodies are read as the text that they are. */
const TEXT = /^(?:application\/(?:[\w.-]+\+)?json|text\/plain|application\/x-www-form-urlencoded)[ \t]*(?:;|$)/i;

/** Pattern of the media type that curl sends by default, with JSON too. */
const URL_ENCODED = /^application\/x-www-form-urlencoded/i;

/** True if a small body may name a file in a member; false for most, which are not read any further. */
export function mayMention(body: Buffer, contentType: string | undefined): boolean {
  const text = body.toString("latin1");
  // What is no JSON there has escapes of its own.
  return (
    (text.includes("\\") ? MAY_NAME_ESCAPED : MAY_NAME).test(text) ||
    (URL_ENCODED.test(contentType ?? "") && !/^\s*\{/.test(text))
  );
}

function escaped([first, second, ...letters]: readonly string[]): string {
  return `${first}(?:(?=${second})|${NO_ESCAPE})${[second, ...letters].map((letter) => ESCAPED + letter).join("")}`;
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
