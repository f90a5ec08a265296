import { Document, parse, visit } from "yaml";

/** A manifest as people keep it: text that YAML 1.1, as kubectl reads it, or 1.2 takes for something else is quoted. */
export function writeYaml(manifest: object): string {
  const document = new Document(manifest);
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && !isText(node.value)) node.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
}

function isText(plain: string): boolean {
  try {
    return (["1.1", "1.2"] as const).every((version) => parse(plain, { version, logLevel: "error" }) === plain);
  } catch {
    return false;
  }
}
