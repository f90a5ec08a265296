/** The words that follow `keyplane` in a line for a shell, up to what the shell does with the command. */
export function wordsOf(line: string): string[] {
  const [, own = ""] = /(?:^|\| )keyplane ((?:'[^']*'|[^'|<>;&])*)/.exec(line) ?? [];
  return [...own.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}
