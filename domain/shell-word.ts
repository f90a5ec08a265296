/** Quotes a text so that a shell takes it for one word; a path that begins with - does not become a flag. */
export function shellWord(text: string): string {
  if (text.startsWith("-")) return shellWord(`./${text}`);
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
