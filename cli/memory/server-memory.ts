/** File of `@modelcontextprotocol/server-memory`: entities with their observations, and relations. */
import { type ParsedLine, withoutRepeats } from "./atom-lines.ts";
import { type ImportReading, idFor, type LeftOut } from "./import-item.ts";
import { atomsOf, type StatedRelation } from "./statement.ts";

/**
 * Type in the first line of the files of mcp-knowledge-graph, another server with this format, by which it recognises
 * them.
 */
const MARK = "_aim";

type Fields = ParsedLine["value"];

/** True if the line is from such a file. */
export function isServerMemory({ type }: Fields): boolean {
  return type === "entity" || type === "relation" || type === MARK;
}

/**
 * Reads a file of entities and relations. An entity becomes an atom of its name, its type (also a tag) and its
 * observations. A relation becomes a link; if one end is no entity of the file, it stays as text.
 *
 * @param source name of the file, which identifies an entity at the next import
 */
export function readServerMemory(given: readonly ParsedLine[], source: string): ImportReading {
  const faults = given.flatMap(({ where, value }): LeftOut[] => {
    const why = faultOf(value);
    return why === undefined ? [] : [{ what: where, why }];
  });
  const whole = given.filter(({ value }) => faultOf(value) === undefined);
  const { lines: entities, leftOut: again } = withoutRepeats(
    whole.filter(({ value }) => value.type === "entity"),
    "name",
  );
  const names = new Set(entities.map(({ value }) => textOf(value.name)));
  const relations = new Map<string, StatedRelation[]>([...names].map((name) => [name, []]));
  const stray = new Map<string, string[]>([...names].map((name) => [name, []]));
  let strayLinks = 0;
  for (const { value } of whole) {
    if (value.type !== "relation") continue;
    const [from, rel, to] = [textOf(value.from), textOf(value.relationType), textOf(value.to)];
    const text = `${from} ${rel} ${to}`;
    const led = relations.get(from);
    if (led !== undefined && names.has(to)) {
      led.push({ rel, id: idFor(source, to), text });
      continue;
    }
    strayLinks++;
    const end = led === undefined ? to : from;
    stray.get(end)?.push(`- ${text}`);
  }
  const items = entities.flatMap(({ where, value }) => {
    const [name, type] = [textOf(value.name), textOf(value.entityType)];
    const said = observationsOf(value)?.map((observation) => `- ${observation}`) ?? [];
    const first = type === "" ? name : `${name} (${type})`;
    return atomsOf({
      ...{ where, id: idFor(source, name), title: name, source, tags: [type], facts: {}, times: {} },
      content: [first, ...said, ...(stray.get(name) ?? [])].join("\n"),
      relations: relations.get(name) ?? [],
    });
  });
  return { items, leftOut: [...faults, ...again], strayLinks };
}

/** Returns why a line is neither an entity nor a relation; undefined if it is valid. */
function faultOf(value: Fields): string | undefined {
  if (value.type === MARK) return undefined;
  if (value.type === "relation") return lacking(value, ["from", "relationType", "to"]);
  if (value.type !== "entity") return "it is neither an entity nor a relation";
  if (observationsOf(value) === undefined) return 'it has "observations" that are no list of texts';
  return lacking(value, ["name", "entityType"]);
}

function lacking(value: Fields, names: readonly string[]): string | undefined {
  const name = names.find((each) => typeof value[each] !== "string");
  return name === undefined ? undefined : `it lacks "${name}"`;
}

/**
 * Returns the observations of an entity, an empty list if there are none; undefined if they are not a list of texts.
 */
function observationsOf({ observations = [] }: Fields): readonly string[] | undefined {
  return Array.isArray(observations) && observations.every((each) => typeof each === "string")
    ? observations
    : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
