import { createHash } from "node:crypto";
import { LineCounter, parseDocument } from "yaml";
import { formatPath, type Path, type Position } from "../manifest/document/diagnostic.ts";
import { FILE_NOT_UTF8, utf8Text } from "../manifest/document/file-text.ts";
import { isRecord } from "../manifest/document/identity.ts";
import { explainSyntax } from "../manifest/document/parse.ts";
import { offsetOf, readNode } from "../manifest/document/yaml-node.ts";
import { parseMicros, parseTrillionths } from "../money.ts";
import { rfc3339 } from "../rfc3339.ts";
import type { PriceEntry, PriceList, Prices } from "./price-list.ts";
import type { TokenKind } from "./tokens.ts";

const MAX_BYTES = 1024 * 1024;
const MAX_ENTRIES = 2_000;

/** Kinds of usage by the fields of a price entry. Prices are for a million of them, but for those in {@link SINGLE}. */
const PRICE_FIELDS = {
  input: "input",
  cached: "cached",
  cacheWrites5m: "cache_write_5m",
  cacheWrites1h: "cache_write_1h",
  output: "output",
  reasoning: "reasoning",
  toolCalls: "tool_calls",
  images: "images",
  seconds: "seconds",
  characters: "characters",
} as const satisfies Readonly<Record<string, TokenKind>>;
const ENTRY_FIELDS: readonly string[] = ["model", "from", ...Object.keys(PRICE_FIELDS)];
const START: Position = { line: 1, column: 1 };
/** Kinds whose price is for one. */
const SINGLE: ReadonlySet<TokenKind> = new Set(["tool_calls", "images", "seconds"]);

/** A fault of a price list, with its position and the instruction how to correct it. */
export type PriceFault = Position & { readonly path: string; readonly message: string };

/** Parses a price list, in YAML or JSON. If there are faults, returns all of them and no list. */
export function parsePriceList(
  content: string | Uint8Array,
): { readonly list: PriceList } | { readonly faults: readonly PriceFault[] } {
  const text = utf8Text(content);
  if (text === undefined) return { faults: [{ ...START, path: "", message: FILE_NOT_UTF8 }] };
  if (Buffer.byteLength(text) > MAX_BYTES) return { faults: [{ ...START, path: "", message: "is larger than 1 MiB" }] };
  const lines = new LineCounter();
  let root: unknown;
  try {
    // All values are read as texts: 2.50 must not become a floating-point number.
    const document = parseDocument(text, {
      ...{ schema: "failsafe", uniqueKeys: false, merge: false },
      ...{ lineCounter: lines, prettyErrors: false },
    });
    const [broken] = document.errors;
    if (broken) return { faults: [{ ...positionOf(broken.pos[0]), path: "", message: explainSyntax(broken) }] };
    root = document.contents;
  } catch {
    return { faults: [{ ...START, path: "", message: "is nested too deeply to be a price list" }] };
  }
  const faults: PriceFault[] = [];
  const { value, diagnostics } = readNode(root);
  for (const { offset, path, message } of diagnostics)
    faults.push({ ...positionOf(offset), path: formatPath(path), message });
  const list = readList(value, (path, message, of = "value") => {
    faults.push({ ...positionOf(offsetOf(root, path, of)), path: formatPath(path), message });
  });
  if (faults.length > 0) return { faults: faults.toSorted((a, b) => a.line - b.line) };
  const version = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return { list: { ...list, version } };

  function positionOf(offset: number): Position {
    const { line, col } = lines.linePos(offset);
    return line === 0 ? START : { line, column: col };
  }
}

/** Records a fault at a field, or at its nearest parent if the field is missing. */
type Note = (path: Path, message: string, of?: "key" | "value") => void;

function readList(value: unknown, note: Note): Omit<PriceList, "version"> {
  const none = { currency: "", entries: [] };
  if (!isRecord(value)) {
    note([], "must have currency and prices, such as currency: USD");
    return none;
  }
  refuseUnknown(value, ["currency", "prices"], [], note);
  const { currency, prices } = value;
  if (currency === undefined) note([], "the currency is missing: write currency: USD, or another of ISO 4217");
  else if (!isCurrency(currency)) note(["currency"], "must be a currency by ISO 4217, such as USD or EUR");
  if (!Array.isArray(prices) || prices.length === 0) {
    note(prices === undefined ? [] : ["prices"], "prices must be a list with at least one entry: - model: NAME");
    return none;
  }
  if (prices.length > MAX_ENTRIES) {
    note(["prices"], `has ${prices.length} entries: ${MAX_ENTRIES} is the most`);
    return none;
  }
  const entries: PriceEntry[] = [];
  const positions = new Map<string, number>();
  for (const [position, given] of prices.entries()) {
    const entry = readEntry(given, ["prices", position], note);
    if (entry === undefined) continue;
    const id = `${entry.name}${entry.isPrefix ? "*" : ""} ${entry.from}`;
    const before = positions.get(id);
    if (before !== undefined) {
      note(
        ["prices", position],
        `has the model and from of prices[${before}]: remove one of the two, or change its from`,
      );
    }
    positions.set(id, before ?? position);
    entries.push(entry);
  }
  return { currency: String(currency), entries };
}

function readEntry(given: unknown, path: Path, note: Note): PriceEntry | undefined {
  if (!isRecord(given)) {
    note(path, "must be an entry with model, from and prices");
    return undefined;
  }
  refuseUnknown(given, ENTRY_FIELDS, path, note);
  const named = readModel(given.model);
  if (named === undefined) {
    note(
      given.model === undefined ? path : [...path, "model"],
      "model must be a name as answers have it, or the beginning of names with * at its end, such as gpt-5*",
    );
  }
  const from = readDay(given.from);
  if (from === undefined) {
    note(given.from === undefined ? path : [...path, "from"], "from must be a day in UTC, such as 2026-01-01");
  }
  const prices = readPrices(given, path, note);
  return named === undefined || from === undefined ? undefined : { ...named, from, prices };
}

function readPrices(given: Readonly<Record<string, unknown>>, path: Path, note: Note): Prices {
  const prices: Record<TokenKind, bigint | null> = {
    ...{ input: null, cached: null, cache_write_5m: null, cache_write_1h: null },
    ...{ output: null, reasoning: null, tool_calls: null, images: null, seconds: null, characters: null },
  };
  let hasPrice = false;
  for (const [field, kind] of Object.entries(PRICE_FIELDS)) {
    const text = given[field];
    if (text === undefined) continue;
    hasPrice = true;
    const [parse, decimals] = SINGLE.has(kind) ? [parseTrillionths, "twelve"] : [parseMicros, "six"];
    const price = typeof text === "string" ? parse(text) : undefined;
    if (price !== undefined) prices[kind] = price;
    else note([...path, field], `must be a price from 0 to 9999999, such as 1.25, with at most ${decimals} decimals`);
  }
  if (!hasPrice) note(path, `has no price: give one of ${Object.keys(PRICE_FIELDS).join(", ")}`);
  return { ...prices, reasoning: prices.reasoning ?? (given.reasoning === undefined ? prices.output : null) };
}

function refuseUnknown(given: object, known: readonly string[], path: Path, note: Note): void {
  for (const field of Object.keys(given)) {
    if (known.includes(field)) continue;
    note([...path, field], `is no field of a price list: the fields here are ${known.join(", ")}`, "key");
  }
}

function readModel(model: unknown): Pick<PriceEntry, "name" | "isPrefix"> | undefined {
  if (typeof model !== "string" || !/^[!-)+-~]{0,128}\*?$/.test(model) || model === "") return undefined;
  return model.endsWith("*") ? { name: model.slice(0, -1), isPrefix: true } : { name: model, isPrefix: false };
}

/** Parses a day in UTC to milliseconds since the epoch. */
function readDay(text: unknown): number | undefined {
  if (typeof text !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(ms) && rfc3339(ms).startsWith(text) ? ms : undefined;
}

function isCurrency(text: unknown): boolean {
  return typeof text === "string" && /^[A-Z]{3}$/.test(text) && Intl.supportedValuesOf("currency").includes(text);
}
