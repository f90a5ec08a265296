import { containsKey } from "../redact.ts";

const MODEL_NAME = /^[!-~]{1,128}$/;

/**
 * True if a model's name from a caller or an upstream may be recorded unchanged: at most 128 characters of ASCII,
 * without
 * spaces, and without anything that may be a key.
 */
export function isPlainModelName(text: string): boolean {
  return MODEL_NAME.test(text) && !containsKey(text);
}
