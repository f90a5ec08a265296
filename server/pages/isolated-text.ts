/**
 * Matches letters that are written from right to left, and characters that turn the direction of the text around them.
 */
const TURNING =
  /[\p{Bidi_Control}\u2029\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const ISOLATES = /[\u2066-\u2069]/g;
const END = "\u2069";
const LINE_ENDS = /[\n\r\u0085]/g;

/** True if a text could change the order of the text beside it. */
export function turnsDirection(text: string): boolean {
  return TURNING.test(text);
}

/**
 * Isolates a text for use within another text: if it could turn the direction, U+2068 and U+2069 surround it. They work
 * up to the end of the line.
 */
export function isolated(text: string): string {
  return turnsDirection(text) ? `\u2068${withBalancedIsolates(text.replaceAll(LINE_ENDS, " "))}${END}` : text;
}

/**
 * Balances the isolates of a text for an element that isolates it. An end too many would end the element's own isolate,
 * and a missing end would take the element's end for its own. Separators of paragraphs would end both, and become
 * spaces.
 */
export function withBalancedIsolates(text: string): string {
  let open = 0;
  const kept = text.replaceAll("\u2029", " ").replace(ISOLATES, (mark) => {
    if (mark !== END) open++;
    else if (open === 0) return "";
    else open--;
    return mark;
  });
  return kept + END.repeat(open);
}
