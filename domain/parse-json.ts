/** Parses JSON; undefined if the text is not JSON. */
export function parseJson(text: string, reviver?: (name: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(text, reviver);
  } catch {
    return undefined;
  }
}

/** Parses JSON as {@link parseJson} does. A whole number that a number of JavaScript does not keep becomes its text. */
export function parseJsonExactly(text: string): unknown {
  return parseJson(text, (_name, value, context?: { readonly source?: string }) =>
    isInexact(value) ? (context?.source ?? value) : value,
  );
}

/** True of a whole number of which a number of JavaScript may not keep each digit. */
export function isInexact(value: unknown): value is number {
  return Number.isInteger(value) && !Number.isSafeInteger(value);
}
