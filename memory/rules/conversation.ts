import { hideSecrets } from "./hidden-secrets.ts";

export const ROLES = ["user", "assistant", "tool", "system"] as const;

/** Message of a conversation, and the role of its author. */
export type ConversationMessage = { readonly role: (typeof ROLES)[number]; readonly content: string };

/** Marks that a program puts around what it has recalled, so that it is not remembered again as something new. */
export const RECALLED = { begin: "<keyplane-memory>", end: "</keyplane-memory>" } as const;

/** Characters of a passage, which is read in one call of a model; and passages, and so calls, of one conversation. */
const MAX_PASSAGE = 20_000;
const MAX_MODEL_CALLS = 10;
/** Characters of a piece of a message: a long message is several, so that each passage but the last is nearly full. */
const MAX_PIECE = 3_000;
/**
 * Length of a conversation, in characters as JSON, that always fits: ten passages, less the space for a piece that each
 * may lack, and less what the pieces have beside their text.
 */
export const MAX_CONVERSATION = 160_000;
/** Length of a conversation, in characters, beyond which it never fits. */
const NEVER_FIT = MAX_MODEL_CALLS * MAX_PASSAGE;

/**
 * Divides a conversation into the passages that a model is to read: JSON arrays of messages, which nothing that is said
 * can end. What tools gave, what the system said and what was recalled are left out, and secrets are hidden.
 *
 * @returns no passages if nothing was said; undefined if there would be more than {@link MAX_MODEL_CALLS}
 */
export function conversationPassages(messages: readonly ConversationMessage[]): readonly string[] | undefined {
  const kept = messages
    .filter(({ role }) => role === "user" || role === "assistant")
    .map(({ role, content }) => ({ role, content: withoutRecalled(content) }));
  // Before secrets are looked for, which takes a while in a megabyte.
  if (kept.reduce((sum, { content }) => sum + content.length, 0) > NEVER_FIT) return undefined;
  const said = kept.flatMap(({ role, content }) => piecesOf(hideSecrets(content).trim(), role));
  const passages: ConversationMessage[][] = [];
  let charactersLeft = 0;
  for (const message of said) {
    // With a comma or a bracket.
    const length = JSON.stringify(message).length + 1;
    if (length > charactersLeft) {
      passages.push([]);
      charactersLeft = MAX_PASSAGE - 1;
    }
    passages.at(-1)?.push(message);
    charactersLeft -= length;
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

/** Leaves out the recalled parts of a text; a part without an end mark goes on to the end of the text. */
function withoutRecalled(text: string): string {
  const [before = "", ...others] = text.split(RECALLED.begin);
  return before + others.map((rest) => rest.split(RECALLED.end).slice(1).join("")).join("");
}
