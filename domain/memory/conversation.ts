import { hideSecrets } from "./hidden-secrets.ts";

export const ROLES = ["user", "assistant", "tool", "system"] as const;

/** What was said in a conversation, and by whom. */
export type ConversationMessage = { readonly role: (typeof ROLES)[number]; readonly content: string };

/** What a program puts around what it has recalled, so that it is not remembered again as something new. */
export const RECALLED = { begin: "<keyplane-memory>", end: "</keyplane-memory>" } as const;

/** Characters of one passage, each of which is one call of a model; and passages, and so calls, of one conversation. */
const MAX_PASSAGE = 20_000;
const MAX_MODEL_CALLS = 10;
/** Of one message, in characters: a longer one is several, so that each passage but the last is nearly full. */
const MAX_PIECE = 4_000;
/** So many characters always fit. */
export const MAX_CONVERSATION = MAX_MODEL_CALLS * (MAX_PASSAGE - MAX_PIECE);
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
    const length = message.content.length;
    if (length > room) {
      passages.push([]);
      room = MAX_PASSAGE;
    }
    passages.at(-1)?.push(message);
    room -= length;
  }
  return passages.length > MAX_MODEL_CALLS ? undefined : passages.map((passage) => JSON.stringify(passage));
}

function piecesOf(content: string, role: ConversationMessage["role"]): ConversationMessage[] {
  const count = Math.ceil(content.length / MAX_PIECE);
  return Array.from({ length: count }, (_, n) => ({
    role,
    content: content.slice(n * MAX_PIECE, (n + 1) * MAX_PIECE).toWellFormed(),
  }));
}

/** One that does not end goes on to the end of the text. */
function withoutRecalled(text: string): string {
  const [before = "", ...others] = text.split(RECALLED.begin);
  return before + others.map((rest) => rest.split(RECALLED.end).slice(1).join("")).join("");
}
