/** Form of a tsquery that an index can answer: a phrase is its words, and their positions are checked later. */
export type TextQuery =
  /** `isPrefix`: also matches each lexeme that begins with it. */
  | { readonly kind: "word"; readonly lexeme: string; readonly isPrefix?: boolean }
  | { readonly kind: "not"; readonly of: TextQuery }
  | { readonly kind: "and" | "or"; readonly of: readonly TextQuery[] };

const TOKEN = /'((?:[^']|'')*)'|<(?:-|\d+)>|[&|!()]/g;

/** Parses a tsquery without weights and prefixes, as PostgreSQL prints it; undefined if it is empty. */
export function parseTextQuery(printed: string): TextQuery | undefined {
  const tokens = [...printed.matchAll(TOKEN)];
  let at = 0;
  const peek = (): string => tokens[at]?.[0] ?? "";

  function operand(): TextQuery {
    const [token = "", quoted = ""] = tokens[at++] ?? [];
    if (token === "!") return { kind: "not", of: operand() };
    if (token !== "(") return { kind: "word", lexeme: quoted.replaceAll("''", "'").replaceAll("\\\\", "\\") };
    const inner = chain("or", "|", () => conjunction());
    at++;
    return inner;
  }
  function conjunction(): TextQuery {
    return chain("and", "&<", operand);
  }
  function chain(kind: "and" | "or", operators: string, next: () => TextQuery): TextQuery {
    const of = [next()];
    while (peek() !== "" && operators.includes(peek().charAt(0))) {
      at++;
      of.push(next());
    }
    const [only] = of;
    return of.length === 1 && only !== undefined ? only : { kind, of };
  }

  return tokens.length === 0 ? undefined : chain("or", "|", conjunction);
}

/** Returns the lexemes of a query, each once. */
export function lexemesOf(query: TextQuery): string[] {
  if (query.kind === "word") return [query.lexeme];
  if (query.kind === "not") return lexemesOf(query.of);
  return [...new Set(query.of.flatMap(lexemesOf))];
}

/** Prints a query that matches any of these lexemes, in PostgreSQL's syntax; empty for none. */
export function printAnyOf(lexemes: readonly string[]): string {
  if (lexemes.length === 0) return "";
  return printTextQuery({ kind: "or", of: lexemes.map((lexeme) => ({ kind: "word", lexeme })) });
}

/** Returns the lexemes of a query that an atom may have, each once: none behind a `not`. */
export function wantedLexemesOf(query: TextQuery): string[] {
  if (query.kind === "word") return [query.lexeme];
  return query.kind === "not" ? [] : [...new Set(query.of.flatMap(wantedLexemesOf))];
}

/** Prints a query in PostgreSQL's syntax. */
export function printTextQuery(query: TextQuery): string {
  if (query.kind === "word") {
    return `'${query.lexeme.replaceAll("\\", "\\\\").replaceAll("'", "''")}'${query.isPrefix ? ":*" : ""}`;
  }
  if (query.kind === "not") return `!${printTextQuery(query.of)}`;
  return `(${query.of.map(printTextQuery).join(query.kind === "and" ? " & " : " | ")})`;
}
