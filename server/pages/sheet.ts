import { readdirSync, readFileSync } from "node:fs";

const FOLDER = new URL("assets/styles/", import.meta.url);
const COMMENT = /\/\*.*?\*\/\s*/gs;
/** A text in quotes, which stays as it is, or what may be shorter: the last `;` of a rule, spaces, and an `&` for what is within. */
const SPACED = /("[^"]*")|;\s*(?=\})|\s*([{};,])\s*(?:&\s+)?|(:)\s+|(\s)\s*/g;

/** The sheets of the console as one, in the order in which one may change what another says. */
export function consoleSheet(): string {
  const within = (folder: string) =>
    readdirSync(new URL(`${folder}/`, FOLDER))
      .sort()
      .map((name) => `${folder}/${name}`);
  const names = ["tokens.css", "elements.css", ...within("components"), ...within("pages"), "print.css"];
  return packedSheet(names.map((name) => readFileSync(new URL(name, FOLDER), "utf8")).join(""));
}

/**
 * A sheet as a browser reads it, without what is there for people: comments, and spaces where they mean nothing. Before a
 * colon one says that `a :hover` is another than `a:hover`; behind it, none.
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
