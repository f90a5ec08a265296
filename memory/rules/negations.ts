/** Words that negate, folded, of languages that part words. */
const WORDS: ReadonlySet<string> = new Set(
  [
    "no not never none neither nor nothing without cannot false",
    "dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt",
    "cant wont couldnt wouldnt shouldnt mustnt neednt aint",
    "nicht kein keine keinen keinem keiner keines keinesfalls keineswegs nie niemals nein ohne",
    "non pas jamais sans aucun aucune nunca jamas sin ninguno ninguna nao sem mai senza nessuno nessuna",
    "niet geen nooit nee inte aldrig nej ikke nei nie bez ne",
    "не нет нельзя никогда без ні",
    "لا لم لن ليس ليست غير לא אין",
    "नहीं मत न",
    "안 못",
  ].flatMap((words) => words.split(" ")),
);
/** Characters before and behind 别 in words in which it does not negate, such as 特别 and 别人. */
const BEFORE_BIE = "个個离離分判区區国國差性派特种種类類级級组組识識辨鉴鑑";
const BEHIND_BIE = "人的名墅处處扭致样樣のに途々";
/** Negations within the words of languages that do not part them, and at the end of Korean ones. */
const WITHIN = new RegExp(
  `[不没沒無无]|未(?![来來])|(?<![${BEFORE_BIE}])[别別](?![${BEHIND_BIE}])|ない|なかった|ません|않|없`,
  "gu",
);

/** Returns the number of negations in a folded statement, in the most frequent languages. */
export function negationsIn(folded: string): number {
  const words = folded.split(/[^\p{L}\p{M}\p{N}]+/u);
  // The apostrophe of "isn't" parts a word.
  const isNegation = (word: string, at: number) => WORDS.has(word) || (word === "t" && words[at - 1]?.endsWith("n"));
  return words.filter(isNegation).length + (folded.match(WITHIN)?.length ?? 0);
}
