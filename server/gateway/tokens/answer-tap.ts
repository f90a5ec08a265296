import type { IncomingHttpHeaders } from "node:http";
import {
  countedUnit,
  GATEWAY_OPERATIONS,
  reportsUsage,
  type ServedOperation,
} from "../../../domain/access/gateway-operations.ts";
import type { Dialect } from "../../../domain/access/key-record.ts";
import type { WrittenTokens } from "../../../domain/usage/token-reservation.ts";
import type { AnswerUsage } from "../../../domain/usage/tokens.ts";
import { holdsCredential, type Needle } from "../headers/credential-mask.ts";
import { AnswerReader, type OnUsage } from "./answer-reader.ts";
import { DecodedReader, UNREAD } from "./decoded-reader.ts";

/** Reader that is shown an answer's bytes as they pass, and never holds them up. */
export type AnswerTap = {
  push(bytes: Buffer): void;
  /**
   * @param isWhole true if the answer has come to its end
   * @param onUsage called with what the answer reported, at once or once it is decoded, and the tokens that it has shown
   */
  end(isWhole: boolean, onUsage: OnUsage): void;
};

const UNSEEN: WrittenTokens = { least: 0, most: Number.POSITIVE_INFINITY };

/** Returns the reader of an answer that is not read, of which no more is known than what was spoken. */
function unreadAnswer(characters: number): AnswerTap {
  return {
    push: () => {},
    end: (_isWhole, onUsage) => onUsage(withCharacters(UNREAD, characters), UNSEEN),
  };
}

/** Adds the characters that were spoken to the usage of an answer, which says nothing of them. */
function withCharacters(usage: AnswerUsage, characters: number): AnswerUsage {
  if (characters === 0) return usage;
  return { ...usage, tokens: { ...usage.tokens, characters }, ending: "reported" };
}

/** Patterns of the media types that are read, by the first that is named; an answer without one is read as JSON. */
const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json[ \t]*(?:[;,]|$)/i;
export const EVENT_STREAM: RegExp = /^text\/event-stream[ \t]*(?:[;,]|$)/i;

/** The call that is answered, the team of its gateway, and the characters that it has spoken, if any. */
type TappedCall = {
  readonly operation: ServedOperation;
  readonly dialect: Dialect;
  readonly teamId: string;
  readonly characters?: number;
};

/**
 * Creates the reader of an answer's usage. An answer in a coding that is not known is not read, and is reported so; the
 * same holds of what is no JSON or event stream by its operation or its media type: a caller may have its text say
 * anything (threats b368).
 *
 * @param status status of the answer: errors use nothing
 * @param needle the credential that the upstream was sent, which is no name of a model
 * @returns undefined for an answer that cannot report what the call used
 */
export function openTap(
  { operation, dialect, teamId, characters = 0 }: TappedCall,
  status: number,
  headers: Readonly<IncomingHttpHeaders>,
  needle: Needle,
): AnswerTap | undefined {
  const row = GATEWAY_OPERATIONS[operation];
  if (!reportsUsage(row) || status < 200 || status >= 300) return undefined;
  const { "content-type": type = "application/json" } = headers;
  const isStream = EVENT_STREAM.test(type);
  if (row.answer === "bytes" || !(isStream || JSON_TYPE.test(type))) return unreadAnswer(characters);
  const reader = new AnswerReader(dialect, isStream, countedUnit(row));
  const shown = (usage: AnswerUsage) => withCharacters(withoutCredential(usage, needle), characters);
  const coding = codingOf(headers["content-encoding"]);
  if (coding !== "identity") {
    const decoded = DecodedReader.open(reader, coding, teamId);
    if (decoded === undefined) return unreadAnswer(characters);
    return {
      push: (bytes) => decoded.push(bytes),
      end: (isWhole, onUsage) => decoded.end(isWhole, (usage, written) => onUsage(shown(usage), written)),
    };
  }
  return {
    push: (bytes) => reader.push(bytes),
    end: (isWhole, onUsage) => onUsage(shown(reader.end(isWhole)), reader.written),
  };
}

/**
 * Drops a model's name that holds the credential: the name goes to the team's usage and to collectors of traces
 * (threats b340).
 */
export function withoutCredential(usage: AnswerUsage, needle: Needle): AnswerUsage {
  const { model } = usage;
  return model !== undefined && holdsCredential(needle, model) ? { ...usage, model: undefined } : usage;
}

/**
 * Returns the coding that an answer's header names: `identity` for none, as for an empty one.
 *
 * @param value the header; of several lines the dispatcher makes a list, whatever its type says
 */
export function codingOf(value: string | readonly string[] | undefined): string {
  return value === undefined ? "identity" : [value].flat().join(",").trim().toLowerCase() || "identity";
}
