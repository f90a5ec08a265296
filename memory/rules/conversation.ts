import { hideSecrets } from "./hidden-secrets.ts";

export const ROLES = ["user", "assistant", "tool", "system"] as const;

/** What was said in a conversation, and by whom. */
export type ConversationMessage = { readonly role: (typeof ROLES)[number]; readonly content: string };

/** What a program puts around what it has recalled, so that it is not remembered again as something new. */
export const RECALLED = { begin: "<keyplane-memory>", end: "</keyplane-memory>" } as const;

/** Characters of one passage, each of which is one call of a model; and passages, and so calls, of one conversation. */
const MAX_PASSAGE = 20_000;
const MAX_MODEL_CALLS = 10;
/** Of one message: a longer one is several, so that each passage but the last is nearly full. */
const MAX_PIECE = 3_000;
/** So many always fit, as JSON: less than ten passages without the room for a piece, and what the pieces have beside. */
export const MAX_CONVERSATION = 160_000;
/** More never do. */
const NEVER_FIT = MAX_MODEL_CALLS * MAX_PASSAGE;

/**
 * A conversation as a model is to read it, in passages: JSON arrays of messages, which nothing that is said can end. What
 * tools gave, what the system said and what was recalled are left out, and secrets are hidden.
 *
 * @returns none where nothing was said; undefined where it takes more than {@link MAX_MODEL_CALLS}
 */
export function conversationPassages(messages: readonly ConversationMessage[]): readonly string[] | undefined {
  const kept = messages
    .filter(({ role }) => role === "user" || role === "assistant")
    .map(({ role, content }) => ({ role, content: withoutRecalled(content) }));
  // Before secrets are looked for, which takes a while in a megabyte.
  if (kept.reduce((sum, { content }) => sum + content.length, 0) > NEVER_FIT) return undefined;
  const said = kept.flatMap(({ role, content }) => piecesOf(hideSecrets(content).trim(), role));
  const passages: ConversationMessage[][] = [];
  let room = 0;
  for (const message of said) {
    // With a comma or a bracket.
    const length = JSON.stringify(message).length + 1;
    if (length > room) {
      passages.push([]);
      room = MAX_PASSAGE - 1;
    }
    passages.at(-1)?.push(message);
    room -= length;
  }
  return passages.length > MAX_MODEL_CALLS ? undefined : passages.map((passage) => JSON.stringify(passage));
}

function piecesOf(content: string, role: ConversationMessage["role"]): ConversationMessage[] {
  const most = MAX_PIECE - JSON.stringify({ role, content: "" }).length;
  const pieces: ConversationMessage[] = [];
  let piece = "";
  let length = 0;
  for (const character of content.toWellFormed()) {
    const more = lengthInJson(character);
    if (length + more > most) {
      pieces.push({ role, content: piece });
      piece = "";
      length = 0;
    }
    piece += character;
    length += more;
  }
  return piece === "" ? pieces : [...pieces, { role, content: piece }];
}

function lengthInJson(character: string): number {
  const isEscaped = character < " " || character === '"' || character === "\\";
  return isEscaped ? JSON.stringify(character).length - 2 : character.length;
}

/** One that does not end goes on to the end of the text. */
function withoutRecalled(text: string): string {
  const [before = "", ...others] = text.split(RECALLED.begin);
  return before + others.map((rest) => rest.split(RECALLED.end).slice(1).join("")).join("");
}
