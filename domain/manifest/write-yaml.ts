import { Document, parse, visit } from "yaml";

/**
 * What takes no visible place, but a newline. For YAML 1.1 some of it ends a line: a name that holds it could begin
 * members of the manifest, and make another object of it.
 */
const UNSEEN = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu;

/** A manifest as people keep it: text that YAML 1.1, as kubectl reads it, or 1.2 takes for something else is quoted. */
export function writeYaml(manifest: object): string {
  const document = new Document(manifest);
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && !isText(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  // All that is unseen is within double quotes by now.
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
