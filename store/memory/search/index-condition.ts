/**
 * A tsquery, as far as an index can answer it: a phrase is the words in it, and where they stand is looked at later.
 */
export type TextQuery =
  /** `isPrefix`: also each lexeme that begins so. */
  | { readonly kind: "word"; readonly lexeme: string; readonly isPrefix?: boolean }
  | { readonly kind: "not"; readonly of: TextQuery }
  | { readonly kind: "and" | "or"; readonly of: readonly TextQuery[] };

/** What share of the atoms has a lexeme, 0 to 1, by a sample. */
export type Shares = (lexeme: string) => number;

export type IndexCondition = {
  /** The condition that the index answers; null for none: only a walk finds candidates. */
  readonly condition: TextQuery | null;
  /** Every atom that the query matches meets the condition. */
  readonly isComplete: boolean;
};

/** Beyond this share of the atoms a walk over the newest finds enough; ranking by many words costs more than by few. */
const MAX_SHARE_OF_ALL = 0.1;
const MAX_SHARE_OF_ANY = 0.02;
/** Lexemes whose lists the index merges for one search, where all are wanted and where any of them will do. */
const MAX_WORDS_OF_ALL = 8;
const MAX_WORDS_OF_ANY = 32;

const TOKEN = /'((?:[^']|'')*)'|<(?:-|\d+)>|[&|!()]/g;

/** Reads what PostgreSQL prints of a tsquery without weights and prefixes; undefined for an empty one. */
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

/** The lexemes of a query, each once. */
export function lexemesOf(query: TextQuery): string[] {
  if (query.kind === "word") return [query.lexeme];
  if (query.kind === "not") return lexemesOf(query.of);
  return [...new Set(query.of.flatMap(lexemesOf))];
}

/** A query that any of these lexemes answers, as PostgreSQL reads it; empty for none. */
export function printAnyOf(lexemes: readonly string[]): string {
  if (lexemes.length === 0) return "";
  return printTextQuery({ kind: "or", of: lexemes.map((lexeme) => ({ kind: "word", lexeme })) });
}

/** The lexemes of a query that an atom may have, each once: none that stands behind a `not`. */
export function wantedLexemesOf(query: TextQuery): string[] {
  if (query.kind === "word") return [query.lexeme];
  return query.kind === "not" ? [] : [...new Set(query.of.flatMap(wantedLexemesOf))];
}

/**
 * What to ask the index for, so that it merges few lists and gives few rows: of words that must all occur the rarest,
 * of words of which any will do as many of the rarest as are rare together.
 *
 * @param matching what share of the atoms the whole query matches, by the same sample
 */
export function chooseIndexCondition(query: TextQuery, shares: Shares, matching: number): IndexCondition {
  if (query.kind === "or") return rarestBranches(query.of, shares);
  if (matching > MAX_SHARE_OF_ALL) return { condition: null, isComplete: false };
  const condition = rarestConjuncts(query, shares);
  return { condition, isComplete: condition !== null };
}

function rarestBranches(branches: readonly TextQuery[], shares: Shares): IndexCondition {
  const chosen: TextQuery[] = [];
  let share = 0;
  let words = 0;
  for (const branch of byShare(branches, shares)) {
    const condition = rarestConjuncts(branch, shares);
    if (condition === null) continue;
    share += shareOf(condition, shares);
    words += lexemesOf(condition).length;
    if (share > MAX_SHARE_OF_ANY || words > MAX_WORDS_OF_ANY) break;
    chosen.push(condition);
  }
  if (chosen.length === 0) return { condition: null, isComplete: false };
  return { condition: { kind: "or", of: chosen }, isComplete: chosen.length === branches.length };
}

/** A condition that every match of the query meets, of few words; null where there is none. */
function rarestConjuncts(query: TextQuery, shares: Shares): TextQuery | null {
  const chosen: TextQuery[] = [];
  let words = 0;
  for (const conjunct of byShare(query.kind === "and" ? flatten(query.of) : [query], shares)) {
    if (negatesSeveral(conjunct)) continue;
    words += lexemesOf(conjunct).length;
    if (words > MAX_WORDS_OF_ALL && !(chosen.length === 0 && words <= MAX_WORDS_OF_ANY)) break;
    chosen.push(conjunct);
  }
  return chosen.length === 0 ? null : { kind: "and", of: chosen };
}

function flatten(conjuncts: readonly TextQuery[]): TextQuery[] {
  return conjuncts.flatMap((conjunct) => (conjunct.kind === "and" ? flatten(conjunct.of) : [conjunct]));
}

/** A negated phrase is met by atoms that have all its words: read as words, it would exclude them. */
function negatesSeveral(query: TextQuery): boolean {
  if (query.kind === "word") return false;
  return query.kind === "not" ? query.of.kind !== "word" : query.of.some(negatesSeveral);
}

function byShare(queries: readonly TextQuery[], shares: Shares): TextQuery[] {
  return queries.toSorted((a, b) => shareOf(a, shares) - shareOf(b, shares));
}

/** At most this share of the atoms meets it. */
function shareOf(query: TextQuery, shares: Shares): number {
  if (query.kind === "word") return shares(query.lexeme);
  if (query.kind === "not") return 1;
  const all = query.of.map((each) => shareOf(each, shares));
  return query.kind === "and" ? Math.min(1, ...all) : all.reduce((sum, share) => sum + share, 0);
}

/** A query as PostgreSQL reads it. */
export function printTextQuery(query: TextQuery): string {
  if (query.kind === "word") {
    return `'${query.lexeme.replaceAll("\\", "\\\\").replaceAll("'", "''")}'${query.isPrefix ? ":*" : ""}`;
  }
  if (query.kind === "not") return `!${printTextQuery(query.of)}`;
  return `(${query.of.map(printTextQuery).join(query.kind === "and" ? " & " : " | ")})`;
}
