import { containsKey } from "../redact.ts";

const MODEL_NAME = /^[!-~]{1,128}$/;

/**
 * Whether a text that a caller or an upstream calls a model may be kept as it is: 128 characters of ASCII at most,
 * without spaces, and none that may be a key.
 */
export function isPlainModelName(text: string): boolean {
  return MODEL_NAME.test(text) && !containsKey(text);
}
