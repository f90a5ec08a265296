import { lexemesOf, type TextQuery } from "../../rows/text-query.ts";

/** Returns the share of the atoms that has a lexeme, 0 to 1, by a sample. */
export type ShareOfLexeme = (lexeme: string) => number;

export type IndexCondition = {
  /** Condition that the index answers; null if there is none, and only a walk finds candidates. */
  readonly condition: TextQuery | null;
  /** True if every atom that the query matches meets the condition. */
  readonly isComplete: boolean;
};

/**
 * Share of the atoms beyond which a walk over the newest finds enough: for words that must all occur, and for words of
 * which any will do, since ranking by many words costs more than by few.
 */
const MAX_SHARE_OF_ALL = 0.1;
const MAX_SHARE_OF_ANY = 0.02;
/** Lexemes whose lists the index merges for one search, if all are wanted and if any of them will do. */
const MAX_WORDS_OF_ALL = 8;
const MAX_WORDS_OF_ANY = 32;

/**
 * Chooses the condition for the index so that it merges few lists and gives few rows: of words that must all occur the
 * rarest, of words of which any will do as many of the rarest as are rare together.
 *
 * @param matching share of the atoms that the whole query matches, by the same sample
 */
export function chooseIndexCondition(query: TextQuery, shares: ShareOfLexeme, matching: number): IndexCondition {
  if (query.kind === "or") return rarestBranches(query.of, shares);
  if (matching > MAX_SHARE_OF_ALL) return { condition: null, isComplete: false };
  const condition = rarestConjuncts(query, shares);
  return { condition, isComplete: condition !== null };
}

function rarestBranches(branches: readonly TextQuery[], shares: ShareOfLexeme): IndexCondition {
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

/** Returns a condition of few words that every match of the query meets; null if there is none. */
function rarestConjuncts(query: TextQuery, shares: ShareOfLexeme): TextQuery | null {
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

/**
 * True if a query negates more than one word at once. Atoms that have all words of a negated phrase may meet it: read
 * as words, it would exclude them.
 */
function negatesSeveral(query: TextQuery): boolean {
  if (query.kind === "word") return false;
  return query.kind === "not" ? query.of.kind !== "word" : query.of.some(negatesSeveral);
}

function byShare(queries: readonly TextQuery[], shares: ShareOfLexeme): TextQuery[] {
  return queries.toSorted((a, b) => shareOf(a, shares) - shareOf(b, shares));
}

/** Returns an upper bound of the share of the atoms that meets a query. */
function shareOf(query: TextQuery, shares: ShareOfLexeme): number {
  if (query.kind === "word") return shares(query.lexeme);
  if (query.kind === "not") return 1;
  const all = query.of.map((each) => shareOf(each, shares));
  return query.kind === "and" ? Math.min(1, ...all) : all.reduce((sum, share) => sum + share, 0);
}
