import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, Scalar } from "yaml";
import { isStorableText } from "../../storable-text.ts";
import type { Path } from "./diagnostic.ts";
import { yaml11Surprise } from "./yaml-11.ts";

/** A message about a node: its offset in the text, and the path of its field. */
type NodeNote = { readonly offset: number; readonly path: Path; readonly message: string };

/** Message for a field name that is no text, such as a placeholder that a program like Helm fills in. */
const NOT_PLAIN = "a field's name must be plain text: render a template, which has {{ in it, before it is read";

/** Message for a text that no database of ours keeps, and that the API server keeps otherwise. */
const NOT_STORABLE =
  "has a NUL character, or half of a surrogate pair, which cannot be stored: write the text without it";

/** Fields with which a manifest begins. */
const FIRST_FIELDS: ReadonlySet<string> = new Set(["apiVersion", "kind"]);

/** Message for a manifest that begins within another, all of whose fields would be given twice. */
const NOT_PARTED = "a second manifest begins here: write --- on a line before it";

/**
 * Converts a parsed YAML node to plain JSON values, and reports what JSON cannot express as faults: aliases (a few
 * lines
 * of which make a gigabyte), duplicate keys, and keys that are no text; and text that cannot be stored.
 */
export function readNode(root: unknown): { value: unknown; diagnostics: NodeNote[]; warnings: NodeNote[] } {
  const diagnostics: NodeNote[] = [];
  const warnings: NodeNote[] = [];
  return { value: read(root, []), diagnostics, warnings };

  function read(node: unknown, path: Path): unknown {
    if (isMap(node)) return readMap(node.items, path);
    if (isSeq(node)) return node.items.map((item, index) => read(item, [...path, index]));
    if (isAlias(node)) {
      diagnostics.push({ offset: start(node), path, message: "aliases are not supported: write the value out" });
      return null;
    }
    if (!isScalar(node)) return null;
    if (typeof node.value === "string" && !isStorableText(node.value)) {
      diagnostics.push({ offset: start(node), path, message: NOT_STORABLE });
    }
    warn(node, path);
    return node.value;
  }

  function readMap(pairs: readonly Pair[], path: Path): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (const { key, value } of pairs) {
      const name = keyText(key);
      if (name === undefined || name === "__proto__" || !isStorableText(name)) {
        diagnostics.push({ offset: start(key), path, message: NOT_PLAIN });
      } else if (name === "<<") {
        diagnostics.push({ offset: start(key), path, message: "merge keys are not supported: write the fields out" });
      } else if (Object.hasOwn(object, name) && path.length === 0 && FIRST_FIELDS.has(name)) {
        diagnostics.push({ offset: start(key), path: [name], message: NOT_PARTED });
        return object;
      } else if (Object.hasOwn(object, name)) {
        diagnostics.push({
          offset: start(key),
          path: [...path, name],
          message: "is given twice: remove one of the two",
        });
      } else {
        if (isScalar(key)) warn(key, [...path, name]);
        object[name] = read(value, [...path, name]);
      }
    }
    return object;
  }

  function warn(node: Scalar, path: Path): void {
    if (node.type !== Scalar.PLAIN || node.source === undefined || node.tag !== undefined) return;
    const message = yaml11Surprise(node.source);
    if (message !== undefined) warnings.push({ offset: start(node), path, message });
  }
}

/** Returns the offset of the value at a path in the text; the offset of its nearest parent if there is none. */
export function offsetOf(root: unknown, path: Path, of: "key" | "value"): number {
  let node = root;
  let offset = start(root);
  for (const [depth, step] of path.entries()) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => keyText(key) === step);
      if (pair === undefined) return offset;
      node = pair.value;
      const byKey = !isScalar(node) || (of === "key" && depth === path.length - 1);
      offset = start(byKey ? pair.key : node);
    } else if (isSeq(node) && typeof step === "number" && step < node.items.length) {
      node = node.items[step];
      offset = start(node);
    } else return offset;
  }
  return offset;
}

/** Returns a key as in JSON: like kubectl, it turns a number or a boolean into text. */
function keyText(key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function start(node: unknown): number {
  return (node as Partial<Node> | null)?.range?.[0] ?? 0;
}
