import { flatten } from "./search-words.ts";

/**
 * Numbers that people write as words, folded, in six languages; without those that are also an article or a word of
 * another language.
 */
const SPELLED: ReadonlySet<string> = new Set(
  `one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
  nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
  zwei drei vier funf sechs sieben acht neun zehn elf zwolf dreizehn vierzehn funfzehn zwanzig dreissig vierzig funfzig
  sechzig siebzig achtzig neunzig hundert
  deux trois quatre cinq sept huit neuf dix onze douze treize quatorze quinze seize vingt trente quarante cinquante
  soixante cent
  два две три четыре пять шесть семь восемь девять десять одиннадцать двенадцать пятнадцать двадцать тридцать сорок
  пятьдесят шестьдесят девяносто сто двух трех четырех пяти шести семи восьми девяти десяти двадцати тридцати
  tres cuatro cinco seis siete ocho nueve diez doce quince veinte treinta cuarenta sesenta setenta ochenta noventa cien
  dois duas quatro sete oito nove dez doze vinte trinta quarenta cinquenta sessenta oitenta`.split(/\s+/),
);
const DIGITS = /^[0-9]+$/;
/** Word that can be counted: no single letter, as in the name of a machine, and not of a script without spaces. */
const UNIT = /^(?!.*[\p{Script=Han}\p{Script=Hangul}])\p{Alphabetic}{2,}$/u;
/**
 * Number of letters at the beginning of a word that make its unit: `day` and `days` are one unit, `день` and `дней` are
 * not.
 */
const STEM = 3;
/** Number in Chinese, Japanese or Korean, and the one character behind it that says what is counted. */
const RUN = /([0-9一二三四五六七八九十百千万两零〇]+) ?个?([\p{Script=Han}\p{Script=Hangul}])/gu;

const ASKS = new RegExp(
  [
    " how (?:many|much|long|large|big|old|far|fast|soon|often|high|late|early) ",
    " wie (?:viel|lang|gross|oft|weit|hoch|schnell|spat|fruh)| wieviel",
    " cuant[oa]s? | quant[oa]s? |몇|얼마",
    " combien | сколько |多少|多久|多长|几|何\\p{Script=Han}|いくら|いくつ|どのくらい|どれくらい",
  ].join("|"),
  "u",
);

/** Numbers that a text states, by the beginning of the unit behind each. */
export type Quantities = ReadonlyMap<string, ReadonlySet<string>>;

/** True if a question asks for a number of something, in one of nine languages. */
export function asksForQuantity(question: string): boolean {
  return ASKS.test(` ${flatten(question)} `);
}

/** Returns the quantities that a text states, in digits or in words: of "kept for 30 days", 30 of `day`. */
export function quantitiesOf(text: string): Quantities {
  const quantities = new Map<string, Set<string>>();
  const add = (unit: string, number: string): void => {
    quantities.set(unit, (quantities.get(unit) ?? new Set()).add(number));
  };
  const flat = flatten(text.replaceAll("%", " percent "));
  const words = flat.split(" ");
  for (const [at, word] of words.entries()) {
    const unit = words[at + 1] ?? "";
    if (isNumber(word) && !isNumber(unit) && UNIT.test(unit)) add(unitOf(unit), word);
  }
  for (const [, number = "", unit = ""] of flat.matchAll(RUN)) add(unit, number);
  return quantities;
}

/** Returns the unit of a word that is counted: its first letters. */
export function unitOf(word: string): string {
  return word.slice(0, STEM);
}

/** True if two texts count the same unit, and agree on no number of it. */
export function countsOtherwise(one: Quantities, other: Quantities): boolean {
  return [...one].some(([unit, numbers]) => {
    const others = other.get(unit);
    return others !== undefined && numbers.isDisjointFrom(others);
  });
}

function isNumber(word: string): boolean {
  return DIGITS.test(word) || SPELLED.has(word);
}
