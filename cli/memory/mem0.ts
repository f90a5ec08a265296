/** Answers and exports of mem0: a list of memories, or a page with `results`, and `relations` if it keeps a graph. */
import { defined } from "../../domain/defined.ts";
import { type ImportItem, type ImportReading, idFor, isObject, type LeftOut, oldestFirst } from "./import-item.ts";
import { atomsOf, noTextsOf, textsOf, timeOf } from "./statement.ts";

const SOURCE = "mem0";
/** Fields that say whom or what a memory belongs to. */
const SCOPES = ["user_id", "agent_id", "app_id", "run_id", "actor_id", "role"];
const TIMES = ["created_at", "updated_at", "expiration_date"];

/** Returns the memories of a document; undefined if it is not mem0's. */
export function mem0Memories(document: unknown): readonly unknown[] | undefined {
  const list = isObject(document) ? (document.results ?? document.memories) : document;
  if (!Array.isArray(list)) return undefined;
  const isEmpty = list.length === 0 && isObject(document);
  return isEmpty || list.some((each) => isObject(each) && typeof each.memory === "string") ? list : undefined;
}

/** Reads mem0's memories. Each becomes an atom; its categories become tags, its metadata and scopes become facts. */
export function readMem0(document: unknown, file: string): ImportReading {
  const memories = mem0Memories(document) ?? [];
  const leftOut: LeftOut[] = otherPages(document, memories.length, file);
  const items: ImportItem[] = [];
  const seen = new Set<string>();
  for (const [index, memory] of memories.entries()) {
    const where = `memory ${index + 1} of ${file}`;
    const text = isObject(memory) ? memory.memory : undefined;
    if (!isObject(memory) || typeof text !== "string" || text.trim() === "") {
      leftOut.push({ what: where, why: 'it has no text as its "memory"' });
      continue;
    }
    const id = idFor(SOURCE, typeof memory.id === "string" ? memory.id : text);
    // A page may repeat what the one before has.
    if (seen.has(id)) continue;
    seen.add(id);
    const { metadata, categories } = memory;
    const rest = defined({ categories: noTextsOf(categories), ...unreadTimesOf(memory) });
    const facts = { ...(isObject(metadata) ? metadata : { metadata }), ...rest, ...scopesOf(memory) };
    const tags = textsOf(categories);
    const parts = { where, id, title: text, content: text, source: SOURCE, tags, facts, relations: [] };
    items.push(...atomsOf({ ...parts, times: timesOf(memory) }));
  }
  return { items: [...oldestFirst(items), ...graphOf(document, file, leftOut)], leftOut, strayLinks: 0 };
}

/** Returns the pages that a file lacks: of a page, mem0 says how many memories there are, and what is beside it. */
function otherPages(document: unknown, shown: number, file: string): LeftOut[] {
  if (!isObject(document)) return [];
  const { count, next, previous } = document;
  const all = typeof count === "number" && count > shown ? count : undefined;
  if (all === undefined && typeof next !== "string" && typeof previous !== "string") return [];
  const why = `it has ${shown} of ${all ?? "more"} memories: export and import the rest too`;
  return [{ what: `the other pages of ${file}`, why }];
}

type Memory = Readonly<Record<string, unknown>>;

/** Returns a field by its name; the client for TypeScript writes names in camelCase. */
function fieldOf(memory: Memory, name: string): unknown {
  return memory[name] ?? memory[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())] ?? undefined;
}

function scopesOf(memory: Memory) {
  return defined(Object.fromEntries(SCOPES.map((scope) => [scope, fieldOf(memory, scope)])));
}

function timesOf(memory: Memory) {
  const created = timeOf(fieldOf(memory, "created_at"));
  const changed = timeOf(fieldOf(memory, "updated_at"));
  const updated = created !== undefined && changed !== undefined && changed < created ? created : changed;
  return defined({ created, updated, expiresAt: timeOf(fieldOf(memory, "expiration_date")) });
}

/** Returns the times that are not read as such, which are facts like others. */
function unreadTimesOf(memory: Memory) {
  const said = TIMES.map((name) => [name, fieldOf(memory, name)] as const);
  return Object.fromEntries(said.filter(([, time]) => timeOf(time) === undefined));
}

/** Returns an atom for each relation of the graph: relations are between names, not between memories. */
function graphOf(document: unknown, file: string, leftOut: LeftOut[]): ImportItem[] {
  const relations = isObject(document) && Array.isArray(document.relations) ? document.relations : [];
  const said = relations.flatMap((relation: unknown, index) => {
    const { source, relationship, destination, target = destination } = isObject(relation) ? relation : {};
    const words = [source, relationship, target];
    if (words.every((word) => typeof word === "string")) return [words.join(" ")];
    leftOut.push({
      what: `relation ${index + 1} of ${file}`,
      why: 'it has no text as its "source", "relationship" or "target"',
    });
    return [];
  });
  return [...new Set(said)].flatMap((text) =>
    atomsOf({
      ...{ where: `relation "${text}" of ${file}`, id: idFor(SOURCE, `relation ${text}`), title: text, content: text },
      ...{ source: SOURCE, tags: [], facts: {}, relations: [], times: {} },
    }),
  );
}
