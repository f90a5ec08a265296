/** Scripts of which a character is about a token: Chinese, Japanese and Korean. */
const WHOLE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;

/**
 * About how many tokens a model reads a text as: a character of Chinese, Japanese and Korean as one, four of any other
 * script as one. No model's own count, which differs from one to the next.
 */
export function estimateTokens(text: string): number {
  const whole = text.match(WHOLE)?.length ?? 0;
  return whole + Math.ceil((text.length - whole) / 4);
}
