/** The file of `@modelcontextprotocol/server-memory`: entities with their observations, and relations. */
import { type ParsedLine, withoutRepeats } from "./atom-lines.ts";
import { idFor, type LeftOut, type Reading } from "./import-item.ts";
import { atomsOf, type StatedRelation } from "./statement.ts";

/** The first line of another server's file of this format, mcp-knowledge-graph's, by which it knows its own. */
const MARK = "_aim";

type Fields = ParsedLine["value"];

/** Whether a line is one of such a file. */
export function isServerMemory({ type }: Fields): boolean {
  return type === "entity" || type === "relation" || type === MARK;
}

/**
 * An entity becomes an atom: its name, its type as a tag too, and its observations; a relation becomes a link. One whose
 * other end is no entity of the file stays as text.
 *
 * @param source the name of the file, by which an entity is known again
 */
export function readServerMemory(given: readonly ParsedLine[], source: string): Reading {
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

/** Why a line is neither an entity nor a relation. */
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

/** None where nothing is said of them. What is no text would become one that says nothing. */
function observationsOf({ observations = [] }: Fields): readonly string[] | undefined {
  return Array.isArray(observations) && observations.every((each) => typeof each === "string")
    ? observations
    : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
