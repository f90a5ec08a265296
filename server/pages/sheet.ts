import { readdirSync, readFileSync } from "node:fs";

const FOLDER = new URL("assets/styles/", import.meta.url);
const COMMENT = /\/\*.*?\*\/\s*/gs;
/**
 * Matches a text in quotes, which stays as it is, and what may be shorter: the last `;` of a rule, spaces, and an `&`
 * before a nested rule.
 */
const SPACED = /("[^"]*")|;\s*(?=\})|\s*([{};,])\s*(?:&\s+)?|(:)\s+|(\s)\s*/g;

/** Returns the style sheets of the console as one, in the order in which later rules may override earlier rules. */
export function consoleSheet(): string {
  const within = (folder: string) =>
    readdirSync(new URL(`${folder}/`, FOLDER))
      .sort()
      .map((name) => `${folder}/${name}`);
  const names = ["tokens.css", "elements.css", ...within("components"), ...within("pages"), "print.css"];
  return packedSheet(names.map((name) => readFileSync(new URL(name, FOLDER), "utf8")).join(""));
}

/**
 * Packs a style sheet: strips comments, and spaces that mean nothing. A space before a colon is kept, since `a :hover`
 * differs from `a:hover`; a space after a colon is not.
 */
export function packedSheet(sheet: string): string {
  return sheet
    .replace(COMMENT, "")
    .replace(
      SPACED,
      (_found, quoted = "", mark = "", colon = "", space = "") => `${quoted}${mark}${colon}${space && " "}`,
    )
    .trim();
}
