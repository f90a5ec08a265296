import { Document, isMap, isScalar, parse, visit } from "yaml";
import { printable } from "./diagnostic.ts";

/**
 * Invisible characters except the newline. Some of them end a line in YAML 1.1: a name that contains such a character
 * could begin members of the manifest, and make another object of it.
 */
const UNSEEN = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu;

/** Comments on a manifest: above all of it, and above fields by their paths, such as `spec.scopes`. */
export type YamlComments = { readonly top: readonly string[]; readonly fields: ReadonlyMap<string, readonly string[]> };

/** Writes a manifest as people keep it: text that YAML 1.1 (kubectl) or 1.2 would misread is quoted. */
export function writeYaml(manifest: object): string {
  return write(new Document(manifest));
}

/**
 * Writes a manifest with comments. A comment stays one line, whatever it contains: invisible characters, and any that
 * would end the line, are replaced.
 */
export function writeCommentedYaml(manifest: object, { top, fields }: YamlComments): string {
  const document = new Document(manifest);
  for (const [path, lines] of fields) {
    const steps = path.split(".");
    const parent = document.getIn(steps.slice(0, -1));
    const pair = isMap(parent)
      ? parent.items.find(({ key }) => isScalar(key) && key.value === steps.at(-1))
      : undefined;
    if (isScalar(pair?.key)) pair.key.commentBefore = commentOf(lines);
  }
  return `${commentLines(top)}${write(document)}`;
}

/** Writes the lines of a comment without a manifest. */
export function commentLines(lines: readonly string[]): string {
  return lines.map((line) => `# ${printable(line)}\n`).join("");
}

function commentOf(lines: readonly string[]): string {
  return lines.map((line) => ` ${printable(line)}`).join("\n");
}

function write(document: Document): string {
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && !isText(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  // All invisible characters are within double quotes by now.
  return document.toString({ lineWidth: 0 }).replace(UNSEEN, escaped);
}

function isText(plain: string): boolean {
  if (plain.search(UNSEEN) !== -1) return false;
  try {
    return (["1.1", "1.2"] as const).every((version) => parse(plain, { version, logLevel: "error" }) === plain);
  } catch {
    return false;
  }
}

function escaped(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`;
}
