/** Characters of the scripts in which each is about a token: Chinese, Japanese and Korean. */
const WHOLE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/**
 * Estimates the number of tokens that a model reads a text as: one for a character of Chinese, Japanese and Korean, one
 * for four characters of any other script. It is no model's own count, which differs from one model to the next.
 */
export function estimateTokens(text: string): number {
  const whole = text.match(WHOLE)?.length ?? 0;
  return whole + Math.ceil((text.length - whole) / 4);
}
