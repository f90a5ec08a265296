/** Letters that are written from right to left, and what turns the direction of the text around it. */
const TURNS = /[\p{Bidi_Control}\u2029\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const ISOLATES = /[\u2066-\u2069]/g;
const END = "\u2069";
const LINE_ENDS = /[\n\r\u0085]/g;

/** Whether a text could change the order of what stands beside it. */
export function turnsDirection(text: string): boolean {
  return TURNS.test(text);
}

/**
 * A text to be put beside others into one: where it could turn their direction, U+2068 and U+2069 keep it apart, which
 * hold up to the next line.
 */
export function isolated(text: string): string {
  return turnsDirection(text) ? `\u2068${withBalancedIsolates(text.replaceAll(LINE_ENDS, " "))}${END}` : text;
}

/**
 * A text whose isolates end within it, to be put into an element that isolates it: an end too many would end the
 * element's own, and a missing one would have the element's end taken for it. What separates paragraphs would end both,
 * and is a space.
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
